// The checkout page that a browser shows before a paid response. It is for people who never heard of x402.

import type { Price } from './price-list.ts'

export function checkoutPage({ amount, requirements, description }: Price): string {
  const isTest = requirements.network.endsWith(':testnet')
  const price = `${escapeHtml(amount)} USDC${isTest ? ' of test money' : ''}`
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>This page costs ${price}</title>
<style>
  html { background: Canvas }
  body { font: 1rem/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 34rem; padding: clamp(1rem, 5vw, 3rem) 1.25rem }
  h1 { font-size: 1.4rem }
  button { font: inherit; font-weight: 600; padding: .6rem 1.2rem }
  code { overflow-wrap: anywhere }
  [role=status] { min-height: 3rem; margin-top: 1rem }
</style>
<main>
<h1>This page costs ${price}</h1>
<p>${description ? `It is: ${escapeHtml(description)}. ` : ''}You pay once, for one look, with a wallet in this browser. One USDC is worth one US dollar; there is no
fee on top. The wallet shows you the payment before you agree to it.</p>
<button id="pay" type="button">Pay ${price}</button>
<p id="status" role="status"></p>
<p>The money goes to <code>${escapeHtml(requirements.payTo)}</code>.</p>
</main>
<script type="module">
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
</html>
`
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
