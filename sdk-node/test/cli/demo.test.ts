// `svc demo` at a real relay: the page, what its visitors do as the terminal tells it, and its end.

import { expect, it } from 'vitest'
import { text, visit } from '../support/exposed.ts'
import { reported } from '../support/svc.ts'
import { useSvcAtRelay } from '../support/svc-at-relay.ts'

const own = useSvcAtRelay()
const PHONE =
  'Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36'

it('publishes a page at a name of its own, and tells each visit and each line', async () => {
  const run = own.svc('demo', ...own.at())
  const { url } = await reported(run, 'demo')
  expect(new URL(url!).hostname).toMatch(/^demo-[\da-f]{6}\./)
  const headers = { 'user-agent': PHONE }
  expect(await text(await visit(own.relay, url!, '/', { headers }))).toContain('You are visitor 1.')
  const answer = await text(await visit(own.relay, url!, '/?say=%20Guten%20Tag%0A', { headers }))
  expect(answer).toContain('<blockquote>Guten Tag</blockquote>')
  await visit(own.relay, url!, '/favicon.ico')
  const told = run.out.map((line) => JSON.parse(line)).filter(({ event }) => event === 'visited')
  expect(told).toEqual([
    { event: 'visited', visit: 1, browser: 'Chrome on Android' },
    { event: 'visited', visit: 1, browser: 'Chrome on Android', said: 'Guten Tag' },
  ])
  run.interrupt()
  expect(await run.ended).toBe(0)
  await expect(visit(own.relay, url!, '/')).rejects.toThrow()
})

it('lets a visitor write neither markup nor commands of the terminal, nor more than a line', async () => {
  const run = own.svc('demo', '--name', 'hostile', ...own.at().filter((argument) => argument !== '--json'))
  await expect.poll(() => run.out.join('\n')).toContain('https://hostile.')
  const url = /https:\S+/.exec(run.out.join('\n'))![0]
  const say = (said: string) => visit(own.relay, url, `/?say=${encodeURIComponent(said)}`)
  expect(await text(await say('<script>alert(1)</script>'))).toContain('<blockquote>&#60;script')
  await text(await say(`\x1b[2J\u202e\n${'long '.repeat(200)}`))
  const lines = run.out.filter((line) => line.includes(' says: '))
  expect(lines).toHaveLength(2)
  expect(lines[1]!.length).toBeLessThan(200)
  for (const command of ['\x1b', '\u202e']) expect(run.out.join('')).not.toContain(command)
})

it('names the ways to a relay when it has none', async () => {
  const run = own.svc('demo')
  expect(await run.ended).toBe(2)
  expect(run.err.join()).toContain('svc config set relay URL')
})
