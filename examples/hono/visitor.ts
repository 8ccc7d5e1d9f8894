// Runs in a visitor's page: when there is news, it takes the entries from the page as it is now.

new EventSource('/live').onmessage = async () => {
  const response = await fetch('/')
  const page = new DOMParser().parseFromString(await response.text(), 'text/html')
  const entries = page.getElementById('entries')
  if (entries) document.getElementById('entries')?.replaceWith(entries)
}
