// The socket as an EventTarget: what the web's WebSocket promises about events and `on…` attributes.

import { expect, test } from 'vitest'
import { bytes, Client, frame, settle } from './client.ts'

test('binaryType: blob by default, arraybuffer when asked for, each message as it is then', async () => {
  const client = await Client.open((socket) => {
    socket.binaryType = 'blob'
  })
  await client.send(frame(2, bytes(1, 2)))
  await settle()
  client.socket.binaryType = 'arraybuffer'
  await client.send(frame(2, bytes(3)))
  await settle()
  const [, first, second] = client.events
  expect(first).toBeInstanceOf(Blob)
  expect(await (first as Blob).bytes()).toEqual(bytes(1, 2))
  expect(second).toEqual(bytes(3).buffer)
})

test('an on… attribute has one handler, which can be replaced and removed', async () => {
  const client = await Client.open()
  const { socket } = client
  const heard: string[] = []
  expect(socket.onmessage).toBeNull()
  socket.onmessage = () => heard.push('first')
  socket.addEventListener('message', () => heard.push('listener'))
  const second = (): number => heard.push('second')
  socket.onmessage = second
  expect(socket.onmessage).toBe(second)
  await client.send(frame(1, 'a'))
  await settle()
  expect(heard).toEqual(['second', 'listener'])
  socket.onmessage = null
  await client.send(frame(1, 'b'))
  await settle()
  expect(heard).toEqual(['second', 'listener', 'listener'])
})

test('after close() in a listener no further message is dispatched', async () => {
  const client = await Client.open((socket) => {
    socket.onmessage = () => socket.close()
  })
  await client.send(Buffer.concat([frame(1, 'a'), frame(1, 'b')]))
  await settle()
  expect(client.events).toEqual(['open', 'a'])
})

test('the request’s signal is aborted when the visitor is gone', async () => {
  const client = await Client.open()
  const { signal } = client.visitor.requests[0]!
  expect(signal.aborted).toBe(false)
  client.visitor.stream.abort()
  await client.visitor.served
  expect(signal.aborted).toBe(true)
})

test('the socket has the members of the web’s WebSocket', async () => {
  const { socket } = await Client.open()
  expect([socket.CONNECTING, socket.OPEN, socket.CLOSING, socket.CLOSED]).toEqual([0, 1, 2, 3])
  expect(socket.readyState).toBe(socket.OPEN)
  expect(socket.url).toBe('wss://site.example/chat')
  // Those of Chromium, Firefox and Node.
  const members = Object.getOwnPropertyNames(WebSocket.prototype).filter((name) => name !== 'constructor')
  expect(members.filter((name) => !(name in socket))).toEqual([])
})

test('a listener may be an object with handleEvent', async () => {
  const client = await Client.open()
  const heard: unknown[] = []
  const listener = { handleEvent: (event: { data: unknown }) => heard.push(event.data) }
  client.socket.addEventListener('message', listener)
  await client.send(frame(1, 'a'))
  await settle()
  client.socket.removeEventListener('message', listener)
  await client.send(frame(1, 'b'))
  await settle()
  expect(heard).toEqual(['a'])
})
