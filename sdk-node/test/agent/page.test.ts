// The page of the agent as the built file is served: the policy names exactly the style and the script that are in it.

import { createHash } from 'node:crypto'
import { afterEach, beforeAll, expect, it } from 'vitest'
import { buildAgentPage } from '../../../tools/bundler/agent-page.ts'
import { pageAnswer } from '../../src/agent/page.ts'
import { installation, setInstallation } from '../../src/installation.ts'

/** Bytes of the page, of which the inspector is a third: it is loaded from this machine, and stays small all the same. */
const PAGE_MAX_BYTES = 112 * 1024

const usual = installation()
afterEach(() => setInstallation(usual))
beforeAll(async () => {
  await buildAgentPage()
})

it('says that it is not built where it is not, and is there once it is', async () => {
  setInstallation({ ...usual, agentPage: () => Promise.reject(new Error('ENOENT')) })
  expect(await pageAnswer()).toMatchObject({ status: 503, body: expect.stringContaining('npm run site') })
  setInstallation(usual)
  expect(await pageAnswer()).toMatchObject({ status: 200 })
})

it('allows its own style and script alone, by their digests, and nothing from elsewhere', async () => {
  const { body, headers } = await pageAnswer()
  const policy = headers['Content-Security-Policy']!
  const [style] = body.match(/(?<=<style>)[\s\S]*?(?=<\/style>)/g)!
  const scripts = body.match(/(?<=<script[^>]*>)[\s\S]*?(?=<\/script>)/g)!
  expect(scripts).toHaveLength(1)
  const digest = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`
  expect(policy).toContain(`script-src ${digest(scripts[0]!)};`)
  expect(policy).toContain(`style-src ${digest(style!)};`)
  expect(policy).not.toMatch(/unsafe|https?:|\*/)
  expect(body).not.toMatch(/(?:src|href)="(?!data:)/)
  expect(Buffer.byteLength(body)).toBeLessThan(PAGE_MAX_BYTES)
})

it('says of the inspector in its head what it is, under the same policy', async () => {
  const [agent, inspector] = await Promise.all([pageAnswer(), pageAnswer('inspector')])
  expect(agent.body).not.toContain('data-page')
  expect(inspector.body).toContain('<html lang="en" data-page="inspector">')
  expect(inspector.body).toContain('<title>Requests · svc</title>')
  expect(inspector.headers).toEqual(agent.headers)
})
