// Runs in a visitor's page: it gives the page a button that counts.

const button = document.querySelector<HTMLButtonElement>('button[data-clicks]')
let clicks = 0
button?.addEventListener('click', () => {
  clicks += 1
  button.textContent = `Clicked ${clicks}×`
})
