// A thread with visitors who make a TLS connection, ask nothing, and stay. It reports who has come and whose connection closed.

import { once } from 'node:events'
import { connect } from 'node:tls'
import { parentPort, workerData } from 'node:worker_threads'

interface Order {
  count: number
}

const { url, port, ca, arriving } = workerData as { url: string; port: number; ca: string; arriving: number }
const { hostname: servername } = new URL(url)

parentPort!.on('message', async ({ count }: Order) => {
  const numbers = Array(count).keys()
  const one = async (): Promise<void> => {
    for (const _ of numbers) await visit()
  }
  try {
    await Promise.all(Array.from({ length: arriving }, one))
    parentPort!.postMessage({ come: count })
  } catch (error) {
    parentPort!.postMessage({ error: String(error) })
  }
})

async function visit(): Promise<void> {
  const socket = connect({ host: '127.0.0.1', port, servername, ca, ALPNProtocols: ['http/1.1'] })
  await once(socket, 'secureConnect')
  socket.on('error', () => {})
  socket.on('end', () => parentPort!.postMessage({ ended: 1 }))
  socket.resume()
}
