// The module `/x402/client.js`: it pays for what a site sells, with a wallet of the browser. It is text, since visitors run it.

/** It needs no library of the chain: the site prepares the transaction, and the wallet shows and signs it. */
export const CLIENT_SCRIPT: string = String.raw`// Pays for what this site sells (x402). A page of any origin, and a program, may import it.
//
//   const response = await x402Fetch('/answer')                        // with a wallet of the browser
//   const response = await x402Fetch(url, {}, { wallet, maxAmount: '0.05' })
//
// A wallet of your own is { address, sign(transaction), execute(transaction) }: both get the transaction in Base64 of its BCS
// form; sign returns the signature in Base64, and execute, which may be absent, carries it out.

const CALLS = 5
const POLLS = 20
const POLL_MS = 1000
const DECIMALS = 6

const found = new Set()
const registry = {
  register(...wallets) {
    for (const wallet of wallets) found.add(wallet)
    return () => { for (const wallet of wallets) found.delete(wallet) }
  },
}
// The Wallet Standard: wallets and pages find each other by two events.
if (typeof globalThis.document === 'object') {
  addEventListener('wallet-standard:register-wallet', (event) => event.detail(registry))
  dispatchEvent(new CustomEvent('wallet-standard:app-ready', { detail: registry }))
}

/** The wallets of this browser that can sign such payments. */
export function wallets() {
  return [...found].filter(({ features }) => features['standard:connect'] && features['sui:signTransaction'])
}

/** Asks the person for an account, and returns a wallet for the option of x402Fetch. */
export async function connect(wallet, network) {
  const { accounts = wallet.accounts } = await wallet.features['standard:connect'].connect()
  const account = accounts.find(({ chains }) => chains.includes(network))
  if (!account) throw new Error('The wallet ' + wallet.name + ' has no account on ' + network)
  const input = (transaction) => ({ transaction: { toJSON: async () => transaction }, account, chain: network })
  const executes = wallet.features['sui:signAndExecuteTransaction']
  return {
    address: account.address,
    async sign(transaction) {
      const { bytes, signature } = await wallet.features['sui:signTransaction'].signTransaction(input(transaction))
      if (bytes !== undefined && bytes !== transaction) throw new Error('The wallet signed something else')
      return signature
    },
    ...(executes && { execute: (transaction) => executes.signAndExecuteTransaction(input(transaction)) }),
  }
}

/**
 * Fetches, and pays when the site asks for it: once, for one response. The options are wallet, maxAmount (USDC, such as '0.05'), and
 * onStatus, which gets a text for people. settlementOf(response) is what was paid.
 */
export async function x402Fetch(input, init, { wallet, maxAmount, onStatus = () => {} } = {}) {
  const request = new Request(input, init)
  const first = await fetch(request.clone())
  if (first.status !== 402) return first
  const { accepts, resource } = decode(first.headers.get('payment-required'))
  await first.body?.cancel()
  const terms = accepts.find(({ scheme, network }) => scheme === 'exact' && network.startsWith('sui:'))
  if (!terms) throw new Error('This site wants a payment that is not known here')
  if (maxAmount !== undefined && BigInt(terms.amount) > units(maxAmount))
    throw new Error('This costs more than ' + maxAmount)
  onStatus('Connecting with the wallet …')
  const payer = wallet ?? (await connect(firstWallet(), terms.network))
  const transaction = await prepared(request, terms, payer, onStatus)
  onStatus('Please agree to the payment in your wallet …')
  const signature = await payer.sign(transaction)
  const payment = encode({ x402Version: 2, resource, accepted: terms, payload: { signature, transaction } })
  onStatus('Paying …')
  return send(request, payment)
}

/** What was paid: { success, transaction, network, payer }; undefined when nothing was. */
export function settlementOf(response) {
  const text = response.headers.get('payment-response')
  return text === null ? undefined : decode(text)
}

/** Pays for a page, and shows it in place of this one. */
export async function payAndShow(url, onStatus) {
  const response = await x402Fetch(url, { headers: { Accept: 'text/html,*/*;q=0.8' } }, { onStatus })
  if (response.status === 402) throw new Error('The payment was not accepted: ' + decode(response.headers.get('payment-required')).error)
  if (!response.ok) throw new Error('The site failed, and nothing was charged for its answer (' + response.status + ')')
  if (!/^text\/html\b/i.test(response.headers.get('content-type') ?? ''))
    return location.replace(URL.createObjectURL(await response.blob()))
  const html = await response.text()
  document.open()
  document.write(html)
  document.close()
}

function firstWallet() {
  const [wallet] = wallets()
  if (!wallet) throw new Error('No wallet was found. Install a Sui wallet in this browser, and load the page again.')
  return wallet
}

/** Asks the site for the transaction; moves coins to where they can be paid from, if that is needed first. */
async function prepared(request, terms, payer, onStatus) {
  const { origin, pathname } = new URL(request.url)
  const ask = async () => {
    const response = await fetch(origin + '/x402/prepare', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ sender: payer.address, method: request.method, path: pathname }),
    })
    const answer = await response.json()
    if (!response.ok) throw new Error('The payment could not be prepared: ' + answer.message)
    const changed = ['network', 'asset', 'amount', 'payTo'].some((name) => answer.paymentRequirements[name] !== terms[name])
    if (changed) throw new Error('The site changed its price meanwhile')
    return answer
  }
  let answer = await ask()
  if (answer.prepareTransaction) {
    if (!payer.execute) throw new Error('The wallet cannot move its coins to where they can be paid from')
    onStatus('Please let your wallet make the money ready …')
    await payer.execute(answer.prepareTransaction.transaction)
    for (let polls = 0; answer.prepareTransaction; polls += 1) {
      if (polls === POLLS) throw new Error('The money is not ready yet; please try again later')
      await new Promise((resolve) => setTimeout(resolve, POLL_MS))
      answer = await ask()
    }
  }
  return answer.paymentTransaction.transaction
}

/** The same payment is never charged twice, so that it may be sent again while nobody knows what became of it. */
async function send(request, payment) {
  for (let calls = 1; ; calls += 1) {
    const paying = request.clone()
    paying.headers.set('PAYMENT-SIGNATURE', payment)
    const response = await fetch(paying)
    if (response.status !== 503 || calls === CALLS) return response
    await response.body?.cancel()
    await new Promise((resolve) => setTimeout(resolve, 1000 * Number(response.headers.get('retry-after') ?? 1)))
  }
}

function units(text) {
  const [whole, fraction = ''] = text.split('.')
  return BigInt(whole + fraction.padEnd(DECIMALS, '0').slice(0, DECIMALS))
}

function encode(message) {
  const bytes = new TextEncoder().encode(JSON.stringify(message))
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
}

function decode(text) {
  const bytes = Uint8Array.from(atob(text ?? ''), (character) => character.charCodeAt(0))
  return JSON.parse(new TextDecoder().decode(bytes))
}
`
