// The site of the proof with runtimes, which each of them runs: it publishes, answers, and closes when its input ends. It prints JSON lines.
import { readFileSync } from 'node:fs'
import process from 'node:process'

const [, , sdk = '', relay, name, caFile] = process.argv

/** @param {object} what */
function say(what) {
  console.log(JSON.stringify(what))
}

try {
  const { publish } = await import(sdk)
  const site = await publish({
    relay,
    name,
    identity: crypto.getRandomValues(new Uint8Array(32)),
    ...(caFile && { ca: readFileSync(caFile, 'utf8') }),
    fetch: async (request) => new Response(`${request.method} ${await request.text()}`),
  })
  say({ url: site.url })
  process.stdin.resume()
  await new Promise((resolve) => process.stdin.once('end', resolve))
  await site.close()
  say({ state: site.state })
} catch (error) {
  const { code, message } = /** @type {Error & { code?: string }} */ (error)
  say({ code, message })
}
process.exit()
