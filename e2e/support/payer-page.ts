// A page in Chromium that pays with x402's reference client.
import type { Page } from '@playwright/test'
import type { createReferencePayer } from './reference-payer.ts'

type Payer = ReturnType<typeof createReferencePayer>

interface PayerPage {
  address: string
  pay(url: string): ReturnType<Payer['fetch']>
}

/** @param pageUrl of e2e/pages/payments.html */
export async function openPayer(page: Page, pageUrl: string, nodeUrl: string): Promise<PayerPage> {
  await page.goto(pageUrl)
  const payer = await page.evaluateHandle((node) => payments.createReferencePayer(node), nodeUrl)
  return {
    address: await payer.evaluate(({ address }) => address),
    pay: (url) => payer.evaluate((own, target) => own.fetch(target), url),
  }
}
