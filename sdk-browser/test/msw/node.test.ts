// The control client over Node's fetch.

import { setupServer } from 'msw/node'
import { afterAll, afterEach, beforeAll } from 'vitest'
import { describeRelayAnswers } from './relay-answers.ts'

const server = setupServer()
beforeAll(() => server.listen({ onUnhandledFrame: 'error' }))
afterEach(() => server.resetHandlers())
afterAll(() => server.close())

describeRelayAnswers('Node', server)
