// The style sheet of the sign-in page, for light and dark mode.

export const PAGE_STYLE = `
:root {
  color-scheme: light dark;
  --ground: light-dark(#f6f5f2, #15171a); --surface: light-dark(#ffffff, #1e2125);
  --text: light-dark(#1c1e21, #e8e6e1); --quiet: light-dark(#5c6066, #a3a8b0);
  --line: light-dark(#dddad3, #33373d); --accent: light-dark(#0b6b57, #4cc9a7);
  --on-accent: light-dark(#ffffff, #08231c); --wrong: light-dark(#b3261e, #ff8a80);
  font: 1rem / 1.5 system-ui, sans-serif;
}
* { box-sizing: border-box }
[hidden] { display: none !important }
body { margin: 0; background: var(--ground); color: var(--text) }
main { max-width: 36rem; margin: 0 auto; padding: clamp(1.25rem, 5vw, 3rem) 1.25rem; overflow-wrap: anywhere }
h1 { font-size: clamp(1.6rem, 6vw, 2.25rem); letter-spacing: -.02em; line-height: 1.2; margin: 0 0 .5rem }
p { margin: 0 0 1rem }
a { color: var(--accent) }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }
.quiet { color: var(--quiet) }
.card { background: var(--surface); border: 1px solid var(--line); border-radius: .875rem; margin: 1.25rem 0; padding: 1.25rem }
.card > :last-child { margin-bottom: 0 }
ul { display: grid; gap: .5rem; list-style: none; margin: 0 0 1rem; padding: 0 }
button { align-items: center; background: var(--accent); border: 1px solid transparent; border-radius: .5rem; color: var(--on-accent);
  cursor: pointer; display: flex; font: inherit; font-weight: 600; gap: .75rem; min-height: 2.75rem; padding: .5rem 1rem; text-align: start }
li button { width: 100% }
label { display: grid; font-weight: 600; gap: .25rem; margin: 0 0 1rem }
input { background: var(--ground); border: 1px solid var(--line); border-radius: .5rem; color: inherit; font: inherit; min-height: 2.75rem;
  padding: .5rem .75rem; width: 100% }
button:disabled { cursor: default; filter: grayscale(1) }
img { block-size: 1.5rem; inline-size: 1.5rem }
pre { background: var(--ground); border-radius: .5rem; font-size: .85rem; margin: 0 0 1rem; padding: .75rem; white-space: pre-wrap }
.problem { color: var(--wrong) }
.problem:empty, .state:empty { display: none }
`
