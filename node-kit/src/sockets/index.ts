// Helpers for Node's sockets: resets, and whether writes copy.

export { encryptsAtOnce } from './encrypts-at-once.ts'
export { resetSocket } from './reset-socket.ts'
