// What sign-in pages have beside the style of every document.

import { small } from '@svc/protocol/documents'

export const PAGE_STYLE: string = small(`
ul { display: grid; gap: var(--space-2); list-style: none; margin: 0 0 var(--space-4); padding: 0; }
li button, form button, .action { inline-size: 100%; justify-content: center; text-align: center; }
ul:empty { display: none; }
form { margin: 0 0 var(--space-4); }
img { block-size: 1.5rem; inline-size: 1.5rem; }
`)
