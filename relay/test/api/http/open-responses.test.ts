// The requests of a connection wait for their turn, and while one waits, nothing more is read.

import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { PassThrough } from 'node:stream'
import { beforeEach, expect, test } from 'vitest'
import {
  answerInTurn,
  PIPELINED_REQUESTS_MAX,
  requireNoOpenResponse,
} from '../../../src/core/api/http/open-responses.ts'

let connection: PassThrough
let begun: number[]
beforeEach(() => {
  connection = new PassThrough().resume()
  begun = []
})

/** The n-th request of the connection. @returns its response; undefined if the connection may not have one more */
function request(number: number): ServerResponse | undefined {
  const response = Object.assign(new EventEmitter(), { destroyed: false, destroy }) as never as ServerResponse
  return answerInTurn(connection, response, () => begun.push(number)) ? response : undefined
}

function destroy(this: { destroyed: boolean }): void {
  this.destroyed = true
}

test('each begins when the response to the one before it has been sent', () => {
  const [first, second, third] = [request(1)!, request(2)!, request(3)!]
  expect(begun).toEqual([1])
  first.emit('close')
  expect(begun).toEqual([1, 2])
  second.emit('close')
  expect(begun).toEqual([1, 2, 3])
  third.emit('close')
  expect(request(4)).toBeDefined()
  expect(begun).toEqual([1, 2, 3, 4])
})

test('nothing is read while one waits', () => {
  const first = request(1)!
  expect(connection.isPaused()).toBe(false)
  const second = request(2)!
  request(3)
  expect(connection.isPaused()).toBe(true)
  first.emit('close')
  expect(connection.isPaused()).toBe(true)
  second.emit('close')
  expect(connection.isPaused()).toBe(false)
})

test('one that waited in vain lets no other begin before its turn', () => {
  const [first, second] = [request(1)!, request(2)!]
  request(3)
  second.emit('close')
  expect(begun).toEqual([1])
  expect(connection.isPaused()).toBe(true)
  first.emit('close')
  expect(begun).toEqual([1, 3])
  expect(connection.isPaused()).toBe(false)
})

test('none begins when the connection has ended', () => {
  const first = request(1)!
  request(2)
  connection.destroy()
  first.emit('close')
  expect(begun).toEqual([1])
})

test('a connection has so many at once (protocol §2.1.6)', () => {
  const responses = Array.from({ length: PIPELINED_REQUESTS_MAX }, (_, index) => request(index)!)
  expect(request(PIPELINED_REQUESTS_MAX)).toBeUndefined()
  responses[0]!.emit('close')
  expect(request(PIPELINED_REQUESTS_MAX)).toBeDefined()
})

test('an upgrade behind one is refused, and those that wait end with the connection', async () => {
  const [first, second] = [request(1)!, request(2)!]
  expect(() => requireNoOpenResponse(connection)).toThrow(
    expect.objectContaining({ code: 'hijack_unsupported' }),
  )
  connection.destroy()
  await expect.poll(() => [first.destroyed, second.destroyed]).toEqual([true, true])
})
