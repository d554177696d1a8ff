import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'

const pages = [...globSync('*.md'), 'llms.txt', ...globSync('docs/**/*.md'), 'examples/README.md'].sort()

test.each(pages)('every link in %s leads somewhere', (page) => {
  expect(linksOf(page).filter((link) => !leadsSomewhere(page, link))).toEqual([])
})

test('llms.txt has every page of docs', () => {
  const listed = linksOf('llms.txt').map((link) => normalize(link))
  expect(globSync('docs/*.md').filter((page) => !listed.includes(page))).toEqual([])
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

/** The anchors that GitHub derives from headings. */
function anchorsOf(page: string): string[] {
  return [...readFileSync(page, 'utf8').matchAll(/^#+ (?<heading>.*)$/gm)].map(({ groups }) =>
    (groups?.['heading'] ?? '')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}
