import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'

const pages = [...globSync('*.md'), 'llms.txt', ...globSync('docs/**/*.md'), 'examples/README.md'].sort()

test.each(pages)('every link in %s leads somewhere', (page) => {
  expect(linksOf(page).filter((link) => !leadsSomewhere(page, link))).toEqual([])
})

test('llms.txt lists every page of docs', () => {
  const listed = linksOf('llms.txt').map((link) => normalize(link))
  expect(globSync('docs/*.md').filter((page) => !listed.includes(page))).toEqual([])
})

test('docs/README.md lists every other page of docs', () => {
  const listed = ['README.md', ...linksOf('docs/README.md')].map((link) => join('docs', link))
  expect(globSync('docs/*.md').filter((page) => !listed.includes(page))).toEqual([])
})

test('README.md has at most 100 lines', () => {
  expect(readFileSync('README.md', 'utf8').split('\n').length - 1).toBeLessThanOrEqual(100)
})

function linksOf(page: string): string[] {
  const prose = readFileSync(page, 'utf8').replaceAll(/^```.*?^```$/gms, '')
  return [...prose.matchAll(/\]\((?<to>[^)\s]+)\)/g)]
    .map(({ groups }) => groups?.['to'] ?? '')
    .filter((to) => !/^https?:/.test(to))
}

function leadsSomewhere(page: string, link: string): boolean {
  const [file = '', anchor] = link.split('#')
  const target = file === '' ? page : join(dirname(page), file)
  if (!existsSync(target)) return false
  return anchor === undefined || anchorsOf(target).includes(anchor)
}

/** The anchors that GitHub makes of headings. */
function anchorsOf(page: string): string[] {
  return [...readFileSync(page, 'utf8').matchAll(/^#+ (?<heading>.*)$/gm)].map(({ groups }) =>
    (groups?.['heading'] ?? '')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}
