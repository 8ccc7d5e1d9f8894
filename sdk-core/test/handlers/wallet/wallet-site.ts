// A site behind `walletOnly` on a real socket, and visitors who sign in there.

import { request as httpRequest } from 'node:http'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import type { FetchHandler } from '../../../src/exchange/fetch-handler.ts'
import type { HttpOptions } from '../../../src/exchange/http-options.ts'
import type { WalletOptions } from '../../../src/handlers/wallet/options.ts'
import { walletOnly } from '../../../src/handlers/wallet/wallet-only.ts'
import { listen } from '../../support/socket-stream.ts'

export type Answer = { status: number; headers: Headers; text: string }
type Fields = Record<string, string | string[]>

export function newAccount(): PrivateKeyAccount {
  return privateKeyToAccount(generatePrivateKey())
}

export class WalletSite {
  /** The origin as the site sees it. */
  readonly origin: string
  readonly port: number
  readonly errors: unknown[]
  readonly close: () => void

  private constructor(port: number, errors: unknown[], close: () => void) {
    this.port = port
    this.origin = `https://127.0.0.1:${port}`
    this.errors = errors
    this.close = close
  }

  /** @param urlPort the port of the site's URL; without it, the one that it listens at */
  static async start(handler: FetchHandler, options: WalletOptions, urlPort?: number): Promise<WalletSite> {
    const errors: unknown[] = []
    const site: HttpOptions = {
      fetch: walletOnly(handler, options),
      isOwnHost: (host) => host === '127.0.0.1' || host === 'other.example',
      canonicalUrl: 'https://127.0.0.1/',
      onError: (error) => errors.push(error),
    }
    const { server, port } = await listen(site, undefined, urlPort)
    return new WalletSite(port, errors, () => server.close())
  }

  /** Sends a request with exactly these fields. */
  ask(
    path: string,
    { method = 'GET', headers = {}, body = '' }: { method?: string; headers?: Fields; body?: string } = {},
  ): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const sent = httpRequest({ host: '127.0.0.1', port: this.port, path, method, headers, agent: false })
      sent.on('error', reject)
      sent.on('response', async (response) => {
        let text = ''
        try {
          for await (const chunk of response) text += chunk
          const fields = new Headers()
          for (let at = 0; at < response.rawHeaders.length; at += 2)
            fields.append(response.rawHeaders[at]!, response.rawHeaders[at + 1]!)
          resolve({ status: response.statusCode!, headers: fields, text })
        } catch (error) {
          reject(error)
        }
      })
      sent.end(body)
    })
  }

  post(action: string, body: unknown, headers: Fields = {}): Promise<Answer> {
    const fields = { 'Content-Type': 'application/json', Origin: this.origin, ...headers }
    return this.ask(`/.svc/wallet/${action}`, { method: 'POST', headers: fields, body: JSON.stringify(body) })
  }

  async challenge(address: string, headers: Fields = {}): Promise<string> {
    const { text } = await this.post('challenge', { address }, headers)
    return JSON.parse(text).message
  }

  /** Signs in. @returns the field Cookie of the requests that follow */
  async signIn(account: PrivateKeyAccount): Promise<string> {
    const message = await this.challenge(account.address)
    const answer = await this.post('sign-in', { message, signature: await account.signMessage({ message }) })
    if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.text}`)
    return answer.headers.get('set-cookie')!.split(';')[0]!
  }
}
