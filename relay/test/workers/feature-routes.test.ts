// A feature's visitors who come to a worker process are served by the primary process, which has the feature.

import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test as every, expect } from 'vitest'
import { captureHello } from '../../../tools/network/client-hello.ts'
import { freePort } from '../../../tools/network/free-port.ts'
import { wholeOnly } from '../../../tools/test-depth.ts'
import { measureCapacity } from '../../src/core/config/capacity.ts'
import { createControlPlane } from '../../src/core/control-plane.ts'
import { type Core, createCore } from '../../src/core/core.ts'
import { OpenSockets } from '../../src/core/ingress/open-sockets.ts'
import type { FeatureRoute } from '../../src/core/lease/route.ts'
import { createLog } from '../../src/core/log/log.ts'
import { StartedParts } from '../../src/core/started-parts.ts'
import { openState } from '../../src/core/storage/stored-state.ts'
import { RunningFeatures } from '../../src/feature.ts'
import { workers } from '../../src/features/workers/index.ts'
import { readSettings } from '../../src/settings.ts'
import { ROOT_HOST, readAll } from '../support/relay.ts'

const test = wholeOnly(every, 'variant')

const HOST = `snapshot.${ROOT_HOST}`
const UNKNOWN_NAME = Buffer.of(21, 3, 3, 0, 2, 2, 112)

let directory: string
let port: number
let core: Core
let close: () => Promise<unknown>

/** The primary process does not listen itself, so that every visitor comes to the worker process. */
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'svc-relay-'))
  port = await freePort()
  const url = `https://${ROOT_HOST}:${port}`
  const settings = readSettings({ SVC_URL: url, IDENTITY_PATH: directory, SVC_WORKERS: '2' })
  const log = createLog('silent')
  const capacity = measureCapacity(settings)
  const state = await openState(settings, log)
  const closing = new AbortController().signal
  core = createCore({ settings, capacity, state, readBuffer: undefined, closing, log })
  const { dataPlane, peers } = core
  const features = new RunningFeatures()
  await features.start([workers], core, new StartedParts(log))
  const controlPlane = await createControlPlane(core, features)
  close = async () => {
    await peers.processes?.end(false)
    dataPlane.close()
    await Promise.all([controlPlane.close(), state.close()])
  }
  const { routes } = state
  routes.cover(`early.${ROOT_HOST}`, echo())
  const sockets = new OpenSockets()
  await features.get(workers)?.listen?.({ ...controlPlane, port, proveName: undefined, sockets })
})
afterEach(async () => {
  await close()
  await rm(directory, { recursive: true })
})

async function visit(serverName: string): Promise<{ hello: Buffer; answer: Buffer }> {
  const hello = await captureHello(serverName)
  const socket: Socket = connect(port, '127.0.0.1')
  const answer = readAll(socket)
  socket.write(hello)
  return { hello, answer: await answer }
}

/** Sends the name, the client address and the first bytes back. */
function echo(isOpen = true): FeatureRoute {
  return {
    to: 'feature',
    isOpen: () => isOpen,
    serve: async (socket, serverName, clientIp) => {
      const [bytes] = (await once(socket.resume(), 'data')) as [Buffer]
      socket.end(Buffer.concat([Buffer.from(`${serverName} ${clientIp}`), bytes]))
    },
  }
}

test('a feature from before the worker started gets its visitors, from their first byte on', async () => {
  const { hello, answer } = await visit(`early.${ROOT_HOST}`)
  expect(answer).toEqual(Buffer.concat([Buffer.from(`early.${ROOT_HOST} 127.0.0.1`), hello]))
})

test('a feature that comes, closes and goes is followed by the worker', async () => {
  const { state, settled } = core
  expect((await visit(HOST)).answer).toEqual(UNKNOWN_NAME)
  const route = echo()
  state.routes.cover(HOST, route)
  await settled()
  const { hello, answer } = await visit(HOST)
  expect(answer).toEqual(Buffer.concat([Buffer.from(`${HOST} 127.0.0.1`), hello]))

  const closed = echo(false)
  state.routes.cover(HOST, closed)
  await settled()
  expect((await visit(HOST)).answer).toEqual(UNKNOWN_NAME)

  state.routes.uncover(HOST, closed)
  await settled()
  expect((await visit(HOST)).answer).toEqual(UNKNOWN_NAME)
})
