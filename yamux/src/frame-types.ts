// The types of frames (specification, "Type field"), and the meaning of `length` in each.

/** `length` bytes of payload follow. */
export const data = 0
/** `length` is added to the window of the receiver of this frame. */
export const windowUpdate = 1
/** `length` is an opaque value, echoed back. */
export const ping = 2
/** `length` is the reason, a `GO_AWAY` code. */
export const goAway = 3
