// The control client over the fetch of a real browser, in a page (Vitest's browser mode).

import { setupWorker } from 'msw/browser'
import { afterAll, afterEach, beforeAll } from 'vitest'
import { describeRelayAnswers } from './relay-answers.ts'

const worker = setupWorker()
beforeAll(() => worker.start({ onUnhandledFrame: 'bypass', quiet: true }))
afterEach(() => worker.resetHandlers())
afterAll(() => worker.stop())

describeRelayAnswers('a page', worker)
