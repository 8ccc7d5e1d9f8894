// The checkout page that a browser shows before a paid response. It is for people who never heard of x402.

import { documentHtml, escapeHtml } from '@svc/protocol/documents'
import type { Price } from './price-list.ts'

export function checkoutPage({ amount, requirements, description }: Price): string {
  const isTest = requirements.network.endsWith(':testnet')
  const price = `${escapeHtml(amount)} USDC${isTest ? ' of test money' : ''}`
  const title = `This page costs ${price}`
  const main = `<h1>${title}</h1>
<p>${description ? `It is: ${escapeHtml(description)}. ` : ''}You pay once, for one look, with a wallet in this browser. One USDC is worth one US dollar; there is no
fee on top. The wallet shows you the payment before you agree to it.</p>
<p><button id="pay" type="button">Pay ${price}</button></p>
<p id="status" class="state" role="status"></p>
<p class="quiet">The money goes to <code>${escapeHtml(requirements.payTo)}</code>.</p>`
  return documentHtml({ title, main, after: SCRIPT })
}

const SCRIPT = `<script type="module">
import { payAndShow } from '/x402/client.js'
const button = document.querySelector('#pay')
const status = document.querySelector('#status')
button.addEventListener('click', async () => {
  button.disabled = true
  try {
    await payAndShow(location.href, (text) => { status.textContent = text })
  } catch (error) {
    status.textContent = error.message
    button.disabled = false
  }
})
</script>
`
