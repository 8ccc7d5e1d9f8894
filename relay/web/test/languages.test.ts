// The landing page in other languages: each has every sentence, and no English one is left.
import { describe, expect, test, vi } from 'vitest'

/** What is the same in another language: names, and words that it has taken over. */
const KEPT =
  /^(?:|svc|ngrok|Cloudflare Tunnel|Tailscale Funnel|Webhooks|Chat|MCP|POST \/|UDP|Name|Relay|Relays|Browser|online)$/

type Texts = Record<string, unknown>

describe.each(['de', 'ar'])('in %s', (language) => {
  test('every text is another one than in English, and functions say what they are given', async () => {
    const english = leavesOf(await load())
    vi.resetModules()
    const texts = await load()
    const { TRANSLATION } = await import(`../src/texts/${language}.ts`)
    const { translateTo } = await import('../src/texts/translate.ts')
    translateTo(TRANSLATION)
    const translated = leavesOf(texts)
    expect([...translated.keys()]).toEqual([...english.keys()])
    const left = [...english].filter(([name, text]) => translated.get(name) === text && !KEPT.test(text))
    expect(left.map(([name]) => name).filter((name) => !name.endsWith('.href'))).toEqual([])
    for (const [name, text] of translated)
      if (name.endsWith('()'))
        expect([name, text.includes('given') || !english.get(name)!.includes('given')]).toEqual([name, true])
  })
})

test('Arabic counts files, hours and seconds by its six forms', async () => {
  const { LANDING } = (await import('../src/texts/ar.ts')).TRANSLATION
  expect([1, 2, 3, 11, 100].map((count) => LANDING.fileCount(count, 'a.txt'))).toEqual([
    'ملف واحد: a.txt',
    'ملفان: a.txt',
    '3 ملفات: a.txt',
    '11 ملفًا: a.txt',
    '100 ملف: a.txt',
  ])
})

async function load(): Promise<Texts> {
  const [common, facts, landing, note, states, tools] = await Promise.all([
    import('../src/texts/common.ts'),
    import('../src/texts/facts.ts'),
    import('../src/texts/landing.ts'),
    import('../src/texts/note.ts'),
    import('../src/texts/site-states.ts'),
    import('../src/texts/tools.ts'),
  ])
  const { SITE_STATES, WAITING } = states
  return { ...common, ...facts, ...landing, ...note, ...tools, SITE_STATES, WAITING }
}

/** @returns all texts by their places; a function with what it makes of `given` */
function leavesOf(texts: object, place = ''): Map<string, string> {
  const leaves = new Map<string, string>()
  for (const [name, text] of Object.entries(texts)) {
    const here = place === '' ? name : `${place}.${name}`
    if (typeof text === 'string') leaves.set(here, text)
    else if (typeof text === 'function')
      leaves.set(`${here}()`, name === 'about' ? text('waiting') : text('given', 'given'))
    else for (const [inner, leaf] of leavesOf(text, here)) leaves.set(inner, leaf)
  }
  return leaves
}
