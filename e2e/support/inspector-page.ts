// What tests find in an inspector, whichever page it is in.
import type { Locator, Page } from '@playwright/test'

/** The lines of its list, newest first. */
export const requestsIn = (page: Page): Locator =>
  page.getByRole('list', { name: 'Requests' }).getByRole('button')

/** The heading of the request that is open. */
export const headingOf = (page: Page, text: string): Locator =>
  page.getByRole('region', { name: 'The request' }).getByRole('heading', { name: text })

/** What an action came to. */
export const saying = (page: Page, text: string | RegExp): Locator =>
  page.getByRole('status').filter({ hasText: text })
