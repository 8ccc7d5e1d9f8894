// A UDP echo as a process of its own; its port is its one message. Ends with the process that began it.
import { createSocket } from 'node:dgram'

const BUFFER_BYTES = 4 * 1024 * 1024

const socket = createSocket({ type: 'udp4', recvBufferSize: BUFFER_BYTES })
socket.on('message', (payload, { port, address }) => socket.send(payload, port, address))
socket.bind(0, '127.0.0.1', () => process.send!(socket.address().port))
process.once('disconnect', () => process.exit())
