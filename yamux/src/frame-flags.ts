// The flags of frames (specification, "Flag field"), as bits.

export const syn = 1
export const ack = 2
export const fin = 4
export const rst = 8
