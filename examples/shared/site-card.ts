// The card that shows a site: its name, its state, its address to copy, and buttons that publish and stop it.
import type { SiteState, Waiting } from '@svc/sdk-browser'
import { copyOnClick } from './copy.ts'
import { element } from './dom.ts'
import { showError } from './show-error.ts'
import { waitingText } from './waiting.ts'

const HTML = `
<h2 id="site-heading">Site <output id="state" class="state">closed</output></h2>
<form id="site-form">
  <label for="name">Name</label>
  <div class="row">
    <input id="name" required maxlength="22" pattern="[a-z0-9]([a-z0-9\\-]*[a-z0-9])?"
      title="Lower-case letters, digits and inner hyphens" autocapitalize="off" autocomplete="off" spellcheck="false">
    <button id="publish" type="submit">Publish</button>
    <button id="stop" type="button" class="plain" hidden>Stop</button>
  </div>
</form>
<p id="waiting-for" class="quiet" role="status"></p>
<p id="error" class="error" role="alert"></p>
<div id="address" class="row" hidden>
  <a id="url" target="_blank" rel="noopener"></a>
  <button id="copy" type="button" class="plain">Copy</button>
</div>
`

export interface SiteActions {
  publish(name: string): void
  stop(): void
}

/** Fills the page's `<section id="site">`, whose own content stays below. */
export function createSiteCard(name: string, { publish, stop }: SiteActions): void {
  element('site').insertAdjacentHTML('afterbegin', HTML)
  const nameField = element<HTMLInputElement>('name')
  nameField.value = name
  element('site-form').addEventListener('submit', (event) => {
    event.preventDefault()
    publish(nameField.value)
  })
  element('stop').addEventListener('click', stop)
  copyOnClick(element('copy'), () => element<HTMLAnchorElement>('url').textContent)
}

/** @param waiting why visitors cannot come, and until when */
export function showSiteState(state: SiteState, url: string, waiting?: Waiting): void {
  const output = element('state')
  output.textContent = state
  output.dataset.state = state
  const isClosed = state === 'closed'
  const stopButton = element<HTMLButtonElement>('stop')
  element<HTMLInputElement>('name').disabled = !isClosed
  element('publish').hidden = !isClosed
  stopButton.hidden = isClosed
  stopButton.disabled = state === 'connecting'
  const link = element<HTMLAnchorElement>('url')
  link.href = url
  link.textContent = url
  element('address').hidden = isClosed || url === ''
  element('waiting-for').textContent = waiting ? waitingText(waiting) : ''
  if (state !== 'closed' && state !== 'reconnecting') showError('')
}
