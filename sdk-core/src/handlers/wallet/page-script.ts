// The script of the sign-in page: it finds wallets (EIP-6963), and asks one for an account and a signature (EIP-1193).

/** How long wallets have to announce themselves before the page says that there is none, in milliseconds. */
const SEARCH_MS = 500

export const PAGE_SCRIPT: string = `
const { base, method } = document.querySelector('main').dataset
const at = (id) => document.getElementById(id)
const say = (text) => { at('state').textContent = text }
const complain = (text) => { say(''); at('problem').textContent = text }

async function post(action, body) {
  const headers = { 'Content-Type': 'application/json' }
  const response = await fetch(base + '/' + action, { method: 'POST', headers, body: JSON.stringify(body) })
  const answer = await response.json()
  if (!response.ok) throw new Error(answer.message)
  return answer
}

/** Goes to where the visitor wanted to go: always this very address. */
function go() {
  if (method === 'GET') return location.reload()
  const url = new URL(location.href)
  url.hash = ''
  location.replace(url.href)
}

function explain(error) {
  if (error?.code === 4001) return 'You declined in your wallet. Nothing was signed.'
  if (error?.code === -32002) return 'Your wallet waits for you already: open it, and answer there.'
  return error?.message || 'Your wallet did not say what is wrong.'
}

function hexOf(text) {
  return '0x' + Array.from(new TextEncoder().encode(text), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

async function attempt(work) {
  const buttons = document.querySelectorAll('button')
  for (const button of buttons) button.disabled = true
  at('problem').textContent = ''
  try {
    await work()
    go()
  } catch (error) {
    complain(explain(error))
    for (const button of buttons) button.disabled = false
  }
}

function signInWith(provider) {
  return attempt(async () => {
    say('Your wallet asks you which account to use.')
    const [address] = await provider.request({ method: 'eth_requestAccounts' })
    const { message } = await post('challenge', { address })
    at('message').textContent = message
    at('message').hidden = false
    say('Your wallet shows the text below, and asks you to sign it.')
    const signature = await provider.request({ method: 'personal_sign', params: [hexOf(message), address] })
    say('The site checks the signature.')
    await post('sign-in', { message, signature })
  })
}

const found = new Set()
function offer(info, provider) {
  const { uuid = '', name, icon } = info
  if (found.has(uuid) || typeof provider?.request !== 'function') return
  found.add(uuid)
  const button = document.createElement('button')
  button.type = 'button'
  if (typeof icon === 'string' && icon.startsWith('data:image/')) {
    const image = document.createElement('img')
    image.src = icon
    image.alt = ''
    button.append(image)
  }
  button.append('Sign in with ' + String(name).slice(0, 64))
  button.addEventListener('click', () => signInWith(provider))
  const item = document.createElement('li')
  item.append(button)
  at('wallets').append(item)
  at('none').hidden = true
}

if (at('wallets')) {
  addEventListener('eip6963:announceProvider', ({ detail }) => { if (detail?.info) offer(detail.info, detail.provider) })
  dispatchEvent(new Event('eip6963:requestProvider'))
  setTimeout(() => {
    if (found.size === 0 && globalThis.ethereum) offer({ name: 'the wallet of this browser' }, globalThis.ethereum)
    at('none').hidden = found.size > 0
  }, ${SEARCH_MS})
}
at('sign-out')?.addEventListener('click', () => attempt(() => post('sign-out', {})))
`
