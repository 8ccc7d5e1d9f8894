// Sockets of node:net that end as they should.

export { resetSocket } from './reset-socket.ts'
