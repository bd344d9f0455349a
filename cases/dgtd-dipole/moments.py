"""moments.py A H GAP SEGMENT HZ...: impedance of a dipole of two cylinders with flat ends, fed by a sheet of current on
the cylinder across the gap, as a port of dgtd is, by moments of the electric field on the bodies of revolution
(rooftops along the generators, rings by quadrature): independent of dgtd. Prints "HZ RESISTANCE REACTANCE"."""
import sys

import numpy as np


def gauss(n):
    x, w = np.polynomial.legendre.leggauss(n); return (x + 1) / 2, w / 2
def ring(k, r1, z1, r2, z2):
    """1/(2 pi) int e^{-ikR}/(4 pi R) (1, cos phi) dphi, R singular where the rings meet."""
    m, wm = gauss(24)
    # phi in 0..pi, graded towards 0 by phi = pi t^3
    t = m ** 4; phi = np.pi * t; w = wm * 4 * m ** 3
    R = np.sqrt((z1 - z2)[..., None] ** 2 + (r1 - r2)[..., None] ** 2 + 4 * (r1 * r2)[..., None] * np.sin(phi / 2) ** 2)
    g = np.exp(-1j * k * R) / (4 * np.pi * R) * w
    return g.sum(-1), (g * np.cos(phi)).sum(-1)


def impedance(f, a, h, gap, seg, c=299792458.0, z0=376.730313668):
    k = 2*np.pi*f/c
    na=max(3,int(np.ceil(a/seg))); ng=max(4,2*int(np.ceil(gap/2/seg))); nh=int(np.ceil((h-gap/2)/seg))
    def graded(lo,hi,n): # finer at both ends
        t=np.linspace(0,1,n+1); t=.5*(1-np.cos(np.pi*t)); t=.5*t+.5*np.linspace(0,1,n+1); return lo+(hi-lo)*t
    def arm(sign):
        zs=graded(h,gap/2,nh) # outer rim to gap rim
        r=np.concatenate([graded(0,a,na)[:-1],np.full(nh+1,a),graded(a,0,na)[1:]])
        z=np.concatenate([np.full(na,h),zs,np.full(na,gap/2)])*sign
        return r,z
    segs=[];funcs=[]  # per function: list of (segment, end, value)
    chains=[]
    for sign in (1,-1):
        r,z=arm(sign); base=len(segs)
        for i in range(len(r)-1): segs.append((r[i],z[i],r[i+1],z[i+1]))
        for i in range(1,len(r)-1): funcs.append([(base+i-1,1,1.),(base+i,0,1.)])
        chains.append((base+na+nh-1))  # last side segment, ends at the gap's rim
    gz=graded(-gap/2,gap/2,ng); g0=len(segs)
    for i in range(ng): segs.append((a,gz[i],a,gz[i+1]))
    src=[(g0+i,e,1.) for i in range(ng) for e in (0,1)]
    src.append((chains[1],1,1.))   # lower arm: current upwards along its orientation (towards the gap)
    src.append((chains[0],1,-1.))  # upper arm is oriented downwards: current goes up
    S=np.array(segs); n=len(S); dr=S[:,2]-S[:,0]; dz=S[:,3]-S[:,1]; L=np.hypot(dr,dz); tr=dr/L; tz=dz/L
    A=np.zeros((2*n,2*n),complex); s,ws=gauss(3); q,wq=gauss(6); x=q**3; dx=3*q**2*wq
    for i in range(n):
        for p in range(3):
            ri,zi=S[i,0]+dr[i]*s[p],S[i,1]+dz[i]*s[p]
            u0=np.clip(((ri-S[:,0])*dr+(zi-S[:,1])*dz)/L**2,0,1)
            us=np.concatenate([u0[:,None]*(1-x),u0[:,None]+(1-u0)[:,None]*x],1)
            ww=np.concatenate([u0[:,None]*dx,(1-u0)[:,None]*dx],1)
            r2=S[:,0,None]+dr[:,None]*us; z2=S[:,1,None]+dz[:,None]*us
            G0,G1=ring(k,np.full_like(r2,ri),np.full_like(z2,zi),r2,z2)
            b=ws[p]*L[i]*ww*L[:,None]; dot=tr[i]*tr[:,None]*G1+tz[i]*tz[:,None]*G0
            for ti,(hi,di) in enumerate(((1-s[p],-1/L[i]),(s[p],1/L[i]))):
                for tj in range(2):
                    hj=1-us if tj==0 else us; dj=(-1 if tj==0 else 1)/L[:,None]
                    A[2*i+ti,tj::2]+=(b*(1j*k*dot*hi*hj+G0*di*dj/(1j*k))).sum(1)*z0
    P=np.zeros((2*n,len(funcs)+1))
    for m,fn in enumerate(funcs+[src]):
        for (sg,e,v) in fn: P[2*sg+e,m]+=v
    B=P.T@A@P; I=np.linalg.solve(B[:-1,:-1],-B[:-1,-1])
    return B[-1,-1]+B[-1,:-1]@I


if __name__ == "__main__":
    sizes = [float(word) for word in sys.argv[1:5]]
    for word in sys.argv[5:]:
        z = impedance(float(word), *sizes)
        print(word, z.real, z.imag)
