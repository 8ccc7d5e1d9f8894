// Lines of `svc` that fit a terminal: broken between words, never within a URL.

import { describe, expect, it } from 'vitest'
import type { Report } from '../../../src/cli/report/report.ts'
import { formatReport, makeReporter } from '../../../src/cli/report/reporter.ts'
import { wrap } from '../../../src/cli/report/wrap.ts'

const URL = `https://demo-${'0'.repeat(40)}.relay.example.com`
const FOUND = { event: 'doctor', relay: 'https://relay.example.com', url: URL } as const
const CERTIFICATE = "4C1F8E0A92D64B37A5E0C9D183B6F254, until 2026-03-01, by C=US, O=Let's Encrypt, CN=E7"

describe('wrap', () => {
  it.each([
    ['short', 5, 'short'],
    ['one two', 5, 'one\n..two'],
    ['  one two three', 9, '  one two\n  ..three'],
    ['a  b  c', 4, 'a  b\n..c'],
    ['a-word-that-is-long b', 5, 'a-word-that-is-long\n..b'],
    ['ok\nlonger line', 8, 'ok\nlonger\n..line'],
  ])('%j in %i columns', (text, columns, lines) => {
    expect(wrap(text, columns, '..')).toBe(lines)
  })
})

describe('svc doctor', () => {
  it('has a line for each address, and below it what was found', () => {
    const own = { ...FOUND, verdict: 'own', message: "the site's own", certificate: CERTIFICATE } as const
    expect(formatReport(own)?.split('\n')).toEqual([
      `✓ ${URL}`,
      "  the site's own",
      "  4C1F8E0A92D64B37A5E0C9D183B6F254, until 2026-03-01, by C=US, O=Let's Encrypt,",
      '  CN=E7',
    ])
  })

  it('says last what to do, in 80 columns', () => {
    const message = 'nothing answers '.repeat(8).trim()
    const advice = 'Is the site online? '.repeat(8).trim()
    const lines = formatReport({ ...FOUND, verdict: 'unreachable', message, advice })?.split('\n') ?? []
    expect(lines[0]).toBe(`✗ ${URL}`)
    expect(lines[3]).toMatch(/^ {2}→ Is the site online\?/)
    expect(lines[4]).toMatch(/^ {4}\S/)
    expect(lines.slice(1).filter((line) => line.length > 80)).toEqual([])
  })
})

describe('a long line', () => {
  const report: Report = {
    event: 'cache',
    relay: 'https://relay.example.com',
    present: true,
    expires_at: '2026-03-01T12:00:00Z',
    canonical_url: URL,
  }
  const printed = (columns: number | undefined): string[] => {
    const lines: string[] = []
    const log = (text: string): void => void lines.push(...text.split('\n'))
    makeReporter(false, { log, error: log, columns: () => columns })(report)
    return lines
  }

  it('is broken for a terminal', () => {
    const lines = printed(80)
    expect(lines.length).toBeGreaterThan(2)
    expect(lines.filter((line) => line.length > 80)).toEqual([])
  })

  it('is one line elsewhere, for programs', () => {
    expect(printed(undefined)).toHaveLength(1)
  })
})
