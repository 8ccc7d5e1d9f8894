// A site behind `walletOnly` on a real socket, and visitors who sign in there.

import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import type { FetchHandler } from '../../../src/exchange/fetch-handler.ts'
import type { WalletOptions } from '../../../src/handlers/wallet/options.ts'
import { walletOnly } from '../../../src/handlers/wallet/wallet-only.ts'
import { type Answer, type Fields, GuardedSite, listenGuarded } from '../../support/guarded-site.ts'

export type { Answer } from '../../support/guarded-site.ts'

export function newAccount(): PrivateKeyAccount {
  return privateKeyToAccount(generatePrivateKey())
}

export class WalletSite extends GuardedSite {
  /** @param urlPort the port of the site's URL; without it, the one that it listens at */
  static async start(handler: FetchHandler, options: WalletOptions, urlPort?: number): Promise<WalletSite> {
    return new WalletSite(await listenGuarded(walletOnly(handler, options), urlPort))
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
