// A TLS client: sends a file, prints what comes back. Arguments: see ../pipe-arguments.ts. Runs on any Node.

import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:tls'

const given = Object.fromEntries(process.argv.slice(2).map((pair) => pair.split(/=(.*)/s, 2)))
const options = {
  port: Number(given.port),
  host: '127.0.0.1',
  servername: 'localhost',
  ca: readFileSync(given.ca),
  minVersion: 'TLSv1.3',
  ...(given.ciphers && { ciphers: given.ciphers }),
  ...(given.groups && { ecdhCurve: given.groups }),
  ...(given.certificate && { cert: readFileSync(given.certificate), key: readFileSync(given.key) }),
}
const request = readFileSync(given.request)

let session
for (let i = 0; i < Number(given.connections); i++) {
  const socket = connect({ ...options, session })
  socket.on('session', (ticket) => {
    session = ticket
  })
  await once(socket, 'secureConnect')
  if (given.exporter) {
    const exported = socket.exportKeyingMaterial(Number(given.exporterBytes), given.exporter, Buffer.alloc(0))
    process.stderr.write(exported.toString('hex'))
  }
  socket.write(request)
  for await (const chunk of socket) process.stdout.write(chunk)
}
