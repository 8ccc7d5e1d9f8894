// The page of the agent as its built files are served: they load each other alone, and the requests later.

import { afterEach, beforeAll, expect, it } from 'vitest'
import { buildAgentPage } from '../../../tools/bundler/agent-page.ts'
import { type PageAnswer, pageAnswer } from '../../src/agent/page.ts'
import { installation, PAGE_FILES, setInstallation } from '../../src/installation.ts'

/** Bytes that the page loads at once, and those of its requests: from this machine, and small all the same. */
const PAGE_MAX_BYTES = 80 * 1024
const REQUESTS_MAX_BYTES = 36 * 1024

const usual = installation()
afterEach(() => setInstallation(usual))
beforeAll(async () => {
  await buildAgentPage()
})

async function answerAt(path: string, entry?: 'inspector'): Promise<PageAnswer> {
  const answer = await pageAnswer(path, entry)
  return answer ?? expect.fail(`there is nothing at ${path}`)
}

it('says that it is not built where it is not, and is there once it is', async () => {
  setInstallation({ ...usual, agentPage: () => Promise.reject(new Error('ENOENT')) })
  expect(await pageAnswer('/')).toMatchObject({ status: 503, body: expect.stringContaining('npm run site') })
  setInstallation(usual)
  expect(await pageAnswer('/')).toMatchObject({ status: 200 })
})

it('runs its own files alone, and loads nothing from elsewhere', async () => {
  const { body, headers } = await answerAt('/')
  const policy = headers['Content-Security-Policy']!
  expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self'; /)
  expect(policy).not.toMatch(/unsafe|https?:|\*/)
  expect(body.match(/<script[^>]*>[^<]/)).toBeNull()
  expect(body).not.toContain('<style')
  const named = [...body.matchAll(/(?:src|href)="(?!data:)([^"]*)"/g)].map(([, name]) => name)
  expect(named.sort()).toEqual(['/index.css', '/index.js'])
  for (const file of PAGE_FILES.slice(1)) {
    const { headers } = await answerAt(`/${file}`)
    expect(headers['Content-Type']).toBe(
      file.endsWith('.js') ? 'text/javascript; charset=utf-8' : 'text/css; charset=utf-8',
    )
    expect(headers['X-Content-Type-Options']).toBe('nosniff')
  }
})

it('is small, and the inspector is loaded when the requests are opened', async () => {
  const bytesOf = async (...files: string[]): Promise<number> => {
    const answers = await Promise.all(files.map((file) => answerAt(file)))
    return answers.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0)
  }
  expect(await bytesOf('/', '/index.js', '/index.css')).toBeLessThan(PAGE_MAX_BYTES)
  expect(await bytesOf('/requests-page.js', '/requests-page.css')).toBeLessThan(REQUESTS_MAX_BYTES)
})

it.each(['/x', '/index', '/index.js/', '/../package.json', '/.built-from', '//index.js', '/toString'])(
  'has nothing at %s',
  async (path) => {
    expect(await pageAnswer(path)).toBeUndefined()
  },
)

it('says of the inspector in its head what it is, under the same policy', async () => {
  const [agent, inspector] = await Promise.all([answerAt('/'), answerAt('/', 'inspector')])
  expect(agent.body).not.toContain('data-page')
  expect(inspector.body).toContain('<html lang="en" data-page="inspector">')
  expect(inspector.body).toContain('<title>Requests · svc</title>')
  expect(inspector.headers).toEqual(agent.headers)
  expect(await answerAt('/index.js', 'inspector')).toEqual(await answerAt('/index.js'))
})
