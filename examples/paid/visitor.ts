// Runs in a visitor's page: pays for the answer with a test wallet, once for each press of the button, and shows it.
import { inWords } from './cents.ts'
import { createWallet, type Wallet } from './wallet.ts'

/** The module that every site with paid routes serves: this page comes from the same seller, and has a wallet of play money alone. */
interface Payments {
  x402Fetch(
    input: string,
    init: RequestInit,
    options: { wallet: Wallet; maxAmount: string; onStatus: (text: string) => void },
  ): Promise<Response>
  settlementOf(response: Response): { transaction: string } | undefined
}

const CLIENT = '/x402/client.js'
const PRICE_CENTS = 1

const payButton = element<HTMLButtonElement>('pay')
const moreButton = element<HTMLButtonElement>('more')

try {
  const [wallet, payments] = await Promise.all([createWallet(), load(CLIENT)])
  payButton.addEventListener('click', () => withMessages(() => buy(wallet, payments)))
  moreButton.addEventListener('click', () => withMessages(() => fill(wallet)))
  await withMessages(() => fill(wallet))
} catch {
  element('error').textContent = 'This browser cannot make a test wallet.'
}

function load(module: string): Promise<Payments> {
  return import(/* @vite-ignore */ module)
}

async function buy(wallet: Wallet, { x402Fetch, settlementOf }: Payments): Promise<void> {
  const onStatus = (text: string): void => {
    element('status').textContent = text
  }
  const response = await x402Fetch('/answer', {}, { wallet, maxAmount: '0.01', onStatus }).catch(
    () => undefined,
  )
  if (!response?.ok) {
    const cents = await showBalance(wallet, 'GET')
    if (cents < PRICE_CENTS) throw new Error('Your test wallet has not enough money. Nothing was charged.')
    throw new Error('The payment did not work. Please try again.')
  }
  element('answer').textContent = await response.text()
  element('receipt').textContent = settlementOf(response)?.transaction ?? ''
  element('answer-card').hidden = false
  await showBalance(wallet, 'GET')
}

async function fill(wallet: Wallet): Promise<void> {
  await showBalance(wallet, 'POST')
}

/** @param method POST asks for play money first */
async function showBalance({ address }: Wallet, method: 'GET' | 'POST'): Promise<number> {
  const response = await fetch(`/wallet?address=${address}`, { method })
  if (!response.ok) throw new Error((await response.text()).trim())
  const { cents } = await response.json()
  element('cents').textContent = inWords(cents)
  moreButton.hidden = cents >= PRICE_CENTS
  return cents
}

/** One thing at a time: the buttons wait until it is done. */
async function withMessages(action: () => Promise<void>): Promise<void> {
  if (payButton.dataset.busy === 'true') return
  payButton.dataset.busy = 'true'
  payButton.disabled = true
  element('error').textContent = ''
  try {
    await action()
  } catch (error) {
    element('error').textContent = (error as Error).message
  }
  element('status').textContent = ''
  payButton.dataset.busy = 'false'
  payButton.disabled = false
}

function element<T extends HTMLElement>(id: string): T {
  return document.getElementById(id) as T
}
