/* Ends what lanes_body.h began. */
#undef lanes
#undef slots
#undef fetch
#undef keep_slots
#undef spread
#undef WIDTH
#undef PARTS
