// Sockets of Node: how they end, and what a write to one has copied.

export { encryptsAtOnce } from './encrypts-at-once.ts'
export { resetSocket } from './reset-socket.ts'
