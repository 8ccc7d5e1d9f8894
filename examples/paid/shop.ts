// The site: a free page with a question, the answer for one cent, and play money for visitors' wallets.

import { escapeHtml } from '@svc/protocol/documents'
import type { FetchHandler } from '@svc/sdk-browser'
import { paid } from '@svc/sdk-browser/handlers'
import { htmlPage } from '../shared/html-page.ts'
import { notFound, onlyGet } from '../shared/refusals.ts'
import { NETWORK, type PlayMoney } from './play-money.ts'
import style from './visitor.css?inline'
import script from './visitor.ts?script'
import { WalletRoute } from './wallet-route.ts'

export interface Goods {
  question: string
  answer: string
}

/** @param goods asked for at each request, because the seller may change them */
export function shop(goods: () => Goods, money: PlayMoney, payTo: string): FetchHandler {
  const wallets = new WalletRoute(money)
  const site = (request: Request): Response => {
    const { pathname } = new URL(request.url)
    if (pathname === '/wallet' && ['GET', 'POST'].includes(request.method)) return wallets.answer(request)
    if (request.method !== 'GET' && request.method !== 'HEAD') return onlyGet(request)
    if (pathname === '/') return questionPage(goods())
    return pathname === '/answer' ? new Response(goods().answer) : notFound(request)
  }
  return paid(site, {
    payTo,
    network: NETWORK,
    facilitator: money.facilitator,
    routes: [{ path: '/answer', methods: ['GET'], amount: '0.01', description: 'The answer to a question' }],
  })
}

function questionPage({ question }: Goods): Response {
  const main = `<h1>${escapeHtml(question)}</h1>
<section class="card" aria-labelledby="buy-heading">
  <h2 id="buy-heading">The answer costs 1 cent</h2>
  <p>Your test wallet has <output id="cents">0 cents</output> of play money.</p>
  <div class="row">
    <button id="pay" type="button" disabled>Pay 1 cent and see the answer</button>
    <button id="more" type="button" class="plain" hidden>Get play money</button>
  </div>
  <p id="status" class="quiet" role="status"></p>
  <p id="error" class="error" role="alert"></p>
</section>
<section id="answer-card" class="card" aria-labelledby="answer-heading" hidden>
  <h2 id="answer-heading">The answer</h2>
  <p id="answer"></p>
  <p class="quiet">You paid 1 cent. The number of the payment is <code id="receipt"></code>.</p>
</section>
<section class="card" aria-labelledby="how-heading">
  <h2 id="how-heading">What happens when you pay</h2>
  <ol>
    <li>Your browser asks for the answer. The site says “402 Payment Required”, and its price.</li>
    <li>The test wallet in this page signs a payment of one cent. Real wallets ask you first.</li>
    <li>The site has the payment carried out, and sends the answer. When the site fails, nothing is charged.</li>
  </ol>
</section>`
  return htmlPage({ title: question, style, main, script })
}
