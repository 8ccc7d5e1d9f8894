// The reports of webhooks whose check fails.

import type { DirectlyHandled } from '@svc/sdk-core'
import { expect, it } from 'vitest'
import { type RequestReport, reportingRequests } from '../../src/target/request-reports.ts'

it('a check that fails is no verdict, and ends nothing', async () => {
  const handler: DirectlyHandled = async () => new Response()
  const reported = Promise.withResolvers<RequestReport>()
  const reporting = reportingRequests(reported.resolve, handler, () => Promise.reject(new Error('failed')))
  await reporting(new Request('https://site.example/'), {} as never, {} as never)
  expect(await reported.promise).not.toHaveProperty('webhook')
})
