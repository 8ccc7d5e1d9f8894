// The page of the guestbook's visitors.
import { html } from 'hono/html'
import { type Entry, NAME_MAX_CHARS, TEXT_MAX_CHARS } from './book.ts'

type Html = ReturnType<typeof html>

/** @param name what this visitor was called last time */
export function bookPage(entries: readonly Entry[], name = ''): Html {
  return html`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/style.css">
<script type="module" src="/script.js"></script>
<title>Guestbook</title>
<main>
  <h1>Guestbook</h1>
  <form class="card stack" method="post" action="/entries">
    <label for="name">Your name</label>
    <input id="name" name="name" required maxlength="${NAME_MAX_CHARS}" value="${name}" autocomplete="nickname">
    <label for="text">What you want to say</label>
    <textarea id="text" name="text" required maxlength="${TEXT_MAX_CHARS}" rows="3"></textarea>
    <button type="submit">Sign</button>
  </form>
  <section aria-labelledby="entries-heading">
    <h2 id="entries-heading">Entries</h2>
    <div id="entries">
      ${entries.map(entryHtml)}
      ${entries.length === 0 ? html`<p class="quiet">Nobody yet: be the first.</p>` : ''}
    </div>
  </section>
</main>
</html>`
}

function entryHtml({ name, text, at }: Entry): Html {
  const when = new Date(at)
  return html`<article class="card">
    <p dir="auto">${text}</p>
    <p class="quiet"><bdi>${name}</bdi>, <time datetime="${when.toISOString()}">${when.toLocaleString()}</time></p>
  </article>`
}
