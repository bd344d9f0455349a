/* Ends what lanes_body.h began. */
#undef lanes
#undef slots
#undef fetch
#undef spread
#undef WIDTH
#undef PARTS
