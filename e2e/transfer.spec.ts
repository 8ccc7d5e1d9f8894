// Large bodies arrive whole in both directions, and 50 requests are served at the same time, once and without a pause.
import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { curl } from '../tools/programs/curl.ts'
import { visitorOf } from '../tools/site/node-site.ts'
import { atDepth, wholeOnly } from '../tools/test-depth.ts'
import { expect, test } from './fixtures.ts'

const MIB: number = atDepth(20, 4)
const BODY_BYTES: number = MIB * 1024 * 1024
const REQUESTS = 50
/** Requests of each connection when they ask without a pause. */
const REQUESTS_IN_TURN: number = atDepth(100, 10)

/** Each test's page has another identity, and a name stays with its owner. */
const newName = (): string => `site-${randomBytes(4).toString('hex')}`
const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

test.describe(`${MIB} MiB`, () => {
  let url: string
  let digest: string

  test.beforeEach(async ({ relay, tenant }) => {
    // GET streams them; POST reads a stream and answers with its SHA-256.
    const site = await tenant.evaluate(
      async ([relayUrl, name, size]) => {
        const content = new Uint8Array(size)
        // getRandomValues fills at most 64 KiB at a time.
        for (let at = 0; at < size; at += 65_536) crypto.getRandomValues(content.subarray(at, at + 65_536))

        const download = (): Response => {
          let sent = 0
          const pull = (controller: ReadableStreamDefaultController): void => {
            controller.enqueue(content.slice(sent, sent + 100_000))
            sent = Math.min(sent + 100_000, size)
            if (sent === size) controller.close()
          }
          return new Response(new ReadableStream({ pull }))
        }
        const upload = async (request: Request): Promise<Response> => {
          const chunks: Uint8Array<ArrayBuffer>[] = []
          const reader = request.body!.getReader()
          for (let read = await reader.read(); !read.done; read = await reader.read()) chunks.push(read.value)
          return new Response(await svc.sha256(await new Blob(chunks).arrayBuffer()))
        }
        const fetch = (request: Request): Response | Promise<Response> =>
          request.method === 'POST' ? upload(request) : download()
        const { url } = await svc.publish({ relay: relayUrl, name, fetch })
        return { url, digest: await svc.sha256(content) }
      },
      [relay.url, newName(), BODY_BYTES] as const,
    )
    url = site.url
    digest = site.digest
  })

  wholeOnly(test, 'depth')('down to curl', async ({ relay }) => {
    const body = await curl(relay.caFile, url)
    expect(body.length).toBe(BODY_BYTES)
    expect(sha256(body)).toBe(digest)
  })

  wholeOnly(test, 'depth')('up from curl', async ({ relay }) => {
    const directory = await mkdtemp(path.join(tmpdir(), 'svc-e2e-'))
    const body = randomBytes(BODY_BYTES)
    await writeFile(path.join(directory, 'body'), body)
    const answer = await curl(relay.caFile, '--data-binary', `@${path.join(directory, 'body')}`, url)
    await rm(directory, { recursive: true })
    expect(String(answer)).toBe(sha256(body))
  })

  test('down to a browser and up again', async ({ visitor }) => {
    // The page itself would be so large: be at the site without loading it.
    await visitor.route(url, (route) => route.fulfill({ contentType: 'text/html', body: '' }), { times: 1 })
    await visitor.goto(url)
    const answers = await visitor.evaluate(async () => {
      const body = await (await fetch('/body')).arrayBuffer()
      const down = [...new Uint8Array(await crypto.subtle.digest('SHA-256', body))]
      return {
        size: body.byteLength,
        down,
        up: await (await fetch('/body', { method: 'POST', body })).text(),
      }
    })
    expect(answers.size).toBe(BODY_BYTES)
    expect(Buffer.from(answers.down).toString('hex')).toBe(digest)
    expect(answers.up).toBe(digest)
  })
})

test.describe('50 requests at once', () => {
  let url: string

  test.beforeEach(async ({ relay, tenant }) => {
    // The page answers no request before all have come.
    url = await tenant.evaluate(
      async ([relayUrl, name, count]) => {
        const everybody = Promise.withResolvers<void>()
        let asked = 0
        const fetch = async (request: Request): Promise<Response> => {
          asked += 1
          if (asked === count) everybody.resolve()
          if (request.url.includes('/together/')) await everybody.promise
          return new Response(`answer to ${new URL(request.url).pathname}`)
        }
        return (await svc.publish({ relay: relayUrl, name, fetch })).url
      },
      [relay.url, newName(), REQUESTS] as const,
    )
  })

  wholeOnly(test, 'depth')('on 50 connections', async ({ relay }) => {
    const directory = await mkdtemp(path.join(tmpdir(), 'svc-e2e-'))
    const parallel = ['--parallel', '--parallel-immediate', '--parallel-max', String(REQUESTS)]
    await curl(
      relay.caFile,
      ...parallel,
      '--fail',
      '-o',
      `${directory}/#1`,
      `${url}/together/[1-${REQUESTS}]`,
    )
    for (let number = 1; number <= REQUESTS; number++) {
      expect(await readFile(`${directory}/${number}`, 'utf8')).toBe(`answer to /together/${number}`)
    }
    await rm(directory, { recursive: true })
  })

  wholeOnly(test, 'depth')(
    'on 50 connections that ask without a pause, not one answer is missing',
    async ({ relay }) => {
      const ca = await readFile(relay.caFile, 'utf8')
      const visitor = visitorOf({ url }, { ca, port: Number(new URL(url).port) }, REQUESTS)
      const paths = Array.from({ length: REQUESTS * REQUESTS_IN_TURN }, (_, number) => `/${number}`)
      const answers = await Promise.all(paths.map((path) => visitor.get(path)))
      visitor.close()
      expect(answers.map(String)).toEqual(paths.map((path) => `answer to ${path}`))
    },
  )

  wholeOnly(test, 'depth')('from one browser', async ({ visitor }) => {
    await visitor.goto(url)
    const answers = await visitor.evaluate(async (count) => {
      const ask = async (_: unknown, number: number): Promise<string> => (await fetch(`/${number}`)).text()
      return Promise.all(Array.from({ length: count }, ask))
    }, REQUESTS)
    expect(answers).toEqual(Array.from({ length: REQUESTS }, (_, number) => `answer to /${number}`))
  })
})
