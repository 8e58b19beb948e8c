// Runs Lighthouse on pages of the sample storefront, and fails if one is not accessible,
// loads too much, or moves while it loads. The performance is only printed, because it depends
// on the machine, and a page is measured up to three times, because a busy machine can paint it in parts. Usage: node audit.js ADDRESS
import { launch } from 'chrome-launcher'
import lighthouse from 'lighthouse'

const [address] = process.argv.slice(2)

const pages = ['/', '/c/drinks/coffee', '/p/latte', '/search?q=coffee', '/cart']

// The most that a page may have. A first visit loads everything: the page, its script and a token.
// A query that the server has answered already would be a request more.
const most = { bytes: 130_000, requests: 3, shift: 0.01 }

const chrome = await launch({ chromeFlags: ['--headless', '--no-sandbox'] })
const failures = []
try {
  const measure = async page => {
    const failures = []
    const { lhr } = await lighthouse(address + page, { port: chrome.port, onlyCategories: ['performance', 'accessibility'] }, undefined)
    const numbers = {
      performance: Math.round(lhr.categories.performance.score * 100),
      accessibility: Math.round(lhr.categories.accessibility.score * 100),
      bytes: lhr.audits['total-byte-weight'].numericValue,
      requests: lhr.audits['network-requests'].details.items.filter(({ url }) => url.startsWith('http')).length,
      shift: lhr.audits['cumulative-layout-shift'].numericValue
    }
    console.log(page, JSON.stringify(numbers), ...['first-contentful-paint', 'largest-contentful-paint', 'total-blocking-time', 'speed-index']
      .map(name => `${name} ${Math.round(lhr.audits[name].numericValue)} ms`))
    for (const audit of lhr.categories.accessibility.auditRefs.map(({ id }) => lhr.audits[id])) {
      if (audit.score === 0) failures.push(`${page}: ${audit.title}: ${audit.details?.items.map(({ node }) => node?.snippet).join(', ')}`)
    }
    if (numbers.accessibility < 100) failures.push(`${page}: accessibility is ${numbers.accessibility}`)
    for (const [name, bound] of Object.entries(most)) {
      if (numbers[name] > bound) failures.push(`${page}: ${name} is ${numbers[name]}, at most ${bound} is allowed`)
    }
    return failures
  }
  for (const page of pages) {
    let found = await measure(page)
    for (let again = 0; found.length && again < 2; again++) found = await measure(page)
    failures.push(...found)
  }
} finally {
  chrome.kill()
}
if (failures.length) {
  console.error(failures.join('\n'))
  process.exitCode = 1
}
