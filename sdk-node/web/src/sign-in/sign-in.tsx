// The sign-in page: by the command line, or by a wallet for read-only access.

import type { ApiError } from '@svc/relay-web/common/api.ts'
import { CopyableCode } from '@svc/relay-web/common/copyable-code.tsx'
import { useStore } from '@svc/relay-web/common/store.ts'
import { useEffect, useState, type VNode } from '@svc/relay-web/preact.ts'
import { isCommand } from '../page-entry.ts'
import { signInWith } from '../session/session.ts'
import { findWallets, type Wallet, wallets } from '../session/wallets.ts'
import { COMMAND_SIGN_IN, SIGN_IN } from '../texts/texts.ts'

/** The user has declined (EIP-1193). */
const DECLINED = 4001

export function SignIn({ reason }: { reason: string }): VNode {
  return (
    <main class="sign-in">
      <h1>{SIGN_IN.title}</h1>
      <p class="quiet">{isCommand ? COMMAND_SIGN_IN.about : SIGN_IN.about}</p>
      {reason !== '' && (
        <p class="notice" role="alert">
          {reason}
        </p>
      )}
      {isCommand ? <p>{COMMAND_SIGN_IN.how}</p> : <Ways />}
    </main>
  )
}

function Ways(): VNode {
  return (
    <>
      <section class="card" aria-labelledby="by-command">
        <h2 id="by-command">{SIGN_IN.byCommand}</h2>
        <p class="quiet">{SIGN_IN.aboutCommand}</p>
        <CopyableCode code={SIGN_IN.command} label={SIGN_IN.copyCommand} />
      </section>
      <Wallets />
    </>
  )
}

function Wallets(): VNode {
  const found = useStore(wallets)
  const [message, setMessage] = useState('')
  const [isBusy, setBusy] = useState(false)
  useEffect(findWallets, [])
  const enter = async (wallet: Wallet): Promise<void> => {
    setBusy(true)
    setMessage(SIGN_IN.askWallet(wallet.name))
    await signInWith(wallet).catch((error) => setMessage(explain(error)))
    setBusy(false)
  }
  return (
    <section class="card" aria-labelledby="by-wallet">
      <h2 id="by-wallet">{SIGN_IN.byWallet}</h2>
      <p class="quiet">{SIGN_IN.aboutWallet}</p>
      <div class="wallets">
        {found.length === 0 && <p class="quiet">{SIGN_IN.noWallet}</p>}
        {found.map((wallet) => (
          <button type="button" key={wallet.id} disabled={isBusy} onClick={() => void enter(wallet)}>
            {SIGN_IN.with(wallet.name)}
          </button>
        ))}
      </div>
      <p class="answer" role="status">
        {message}
      </p>
    </section>
  )
}

function explain(error: unknown): string {
  const { code, message } = error as Omit<ApiError, 'code'> & { code?: string | number }
  if (code === DECLINED) return SIGN_IN.declined
  if (code === 'forbidden') return SIGN_IN.notAllowed
  if (code === 'unreachable') return SIGN_IN.unreachable
  return SIGN_IN.failed(message)
}
