"""What the scripts that draw records share: gnuplot's part of a picture by the end of its name."""
import subprocess


def draw(path, width, height, lines):
    """Runs gnuplot on lines of its language, with the output set to `path` (png, svg, pdf), pixels."""
    kind = path.rsplit(".", 1)[-1]
    terminal = {"png": f"pngcairo size {width},{height}", "svg": f"svg size {width},{height}",
                "pdf": f"pdfcairo size {width / 100}in,{height / 100}in"}[kind]
    text = [f"set terminal {terminal} font 'DejaVu Sans,10'", f"set output '{path}'", *lines]
    subprocess.run(["gnuplot"], input="\n".join(text) + "\n", text=True, check=True)
