// Sell an answer: publishes a site that asks one cent for it, and lists the payments.
import { publish } from '@svc/sdk-browser'
import { element, make } from '../shared/dom.ts'
import { friendlyNames } from '../shared/name.ts'
import { showSite } from '../shared/show-site.ts'
import { inWords } from './cents.ts'
import type { PlayMoney } from './play-money.ts'

/** Payments that are listed. */
const SALES_MAX = 10
/** Characters of an address that tell visitors apart. */
const SHORT_CHARS = 10

const question = element<HTMLInputElement>('question')
const answer = element<HTMLTextAreaElement>('answer')
question.value = 'What is the answer to everything?'
answer.value = '42'

/** Money goes to this address; nobody has its key, for it is play money. */
const payTo = `0x${Array.from(crypto.getRandomValues(new Uint8Array(32)), (byte) => byte.toString(16).padStart(2, '0')).join('')}`

/** The chain ends with the page, and is the same when the site is stopped and published again. */
const opened = openShop()

showSite(friendlyNames('paid'), async (site) =>
  publish({ relay: location.origin, fetch: await opened, ...site }),
)

async function openShop() {
  const [{ openPlayMoney }, { shop }] = await Promise.all([import('./play-money.ts'), import('./shop.ts')])
  const money: PlayMoney = await openPlayMoney(payTo, () => showSales(money))
  return shop(() => ({ question: question.value.trim() || 'A question', answer: answer.value }), money, payTo)
}

function showSales(money: PlayMoney): void {
  const sales = money.sales()
  element('earned').textContent = inWords(sales.reduce((sum, { cents }) => sum + cents, 0))
  element('payments').replaceChildren(...sales.slice(0, SALES_MAX).map(row))
  element('waiting').hidden = sales.length > 0
}

function row({ payer, cents, id }: ReturnType<PlayMoney['sales']>[number]): HTMLElement {
  const item = make('li')
  const payment = make('p', `Payment ${id}`, 'quiet')
  item.append(make('bdi', `${inWords(cents)} from ${payer.slice(0, SHORT_CHARS)}…`), payment)
  return item
}
