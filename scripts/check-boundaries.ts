/** Who may import whom below src/, and what the pure part may not say. The rules are the two tables below. */
import { globSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { posix } from 'node:path'
import { pathToFileURL } from 'node:url'

/**
 * What each folder may import beside its own files; the longest folder name that fits a file is its rule.
 * A folder or file below src/ stands for itself, `type x` for type-only imports of x, `node:*` for the
 * built-ins, any other word for a package, `*` for everything, and `!x` takes x away again.
 */
const mayImport: Record<string, readonly string[]> = {
  base: [],
  core: ['base/nearest-name.ts'],
  package: ['node:*', '!node:sqlite'],
  os: ['base', 'node:*', '!node:sqlite'],
  home: ['core/errors.ts', 'base', 'os', 'node:*', '!node:sqlite'],
  redaction: ['base', 're2js'],
  keeper: ['node:*', '@lydell/node-pty', 'os', 'base'],
  verbs: ['type core', 'zod'],
  store: ['core', 'base', 'node:*', '!node:sqlite'],
  'store/sqlite': ['core', 'base', 'store', '!store/postgres', 'node:*'],
  'store/postgres': ['core', 'base', 'store', '!store/sqlite', 'node:*', '!node:sqlite', 'postgres'],
  kernel: ['store/contract.ts', 'core', 'base'],
  authority: ['kernel', 'core'],
  memory: ['authority', 'kernel', 'core'],
  command: [
    ...[
      'memory',
      'authority',
      'kernel',
      'verbs',
      'core',
      'base',
      'redaction',
      'keeper/protocol',
      'os',
      'package',
      'node:*',
      '!node:sqlite',
    ],
    ...['re2js', '@xterm/headless'],
  ],
  agent: ['memory', 'authority', 'kernel', 'verbs', 'core', 'node:*', '!node:sqlite'],
  workflow: ['memory', 'authority', 'kernel', 'verbs', 'core', 'base', 'node:*', '!node:sqlite'],
  tool: ['memory', 'authority', 'kernel', 'verbs', 'core', 'base', 'node:*', '!node:sqlite'],
  external: ['kernel', 'core', 'base', 'os', 'node:*', '!node:sqlite'],
  worker: ['workflow', 'kernel', 'verbs', 'core', 'base', 'store/system-clock.ts', 'node:*', '!node:sqlite'],
  client: ['verbs', 'base', 'home', 'core/errors.ts', 'core/refusal.ts', 'node:*', '!node:sqlite', 'ws'],
  server: [
    ...['verbs', 'core', 'base', 'os', 'node:*', '!node:sqlite'],
    ...['hono', '@hono/node-server', 'ws', 'zod'],
  ],
  actions: [
    ...['kernel', 'verbs', 'core', 'base', 'redaction', 'keeper/protocol', 'store/contract.ts'],
    ...['command', 'workflow', 'tool', 'external', 'zod', 're2js'],
  ],
  telemetry: ['type core', 'core/errors.ts', 'verbs', 'base', 'home', 'node:*', '!node:sqlite'],
  cli: ['client', 'verbs', 'core/errors.ts', 'base', 'home', 'os', 'node:*', '!node:sqlite'],
  mcp: [
    ...[
      'client',
      'verbs',
      'base',
      'type core',
      'core/errors.ts',
      'core/refusal.ts',
      'node:*',
      '!node:sqlite',
    ],
    ...['package', 'zod', '@modelcontextprotocol/server'],
  ],
  acp: ['client', 'verbs', 'node:*', '!node:sqlite'],
  testing: ['core', 'store/contract.ts', 'store/memory', 'kernel', 'verbs', 'node:assert', 'node:crypto'],
  daemon: ['*'],
  demo: ['*'],
  embed: ['*'],
  '': ['*'],
}

/** What makes a rule depend on more than its arguments, and so may not stand in core. */
const impure: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['Date.now()', /\bDate\.now\b/g],
  ['new Date()', /\bnew\s+Date\s*(\(\s*\)|(?!\s*\())/g],
  ['Math.random()', /\bMath\.random\b/g],
  ['setTimeout()', /\bsetTimeout\b/g],
  ['crypto', /\bcrypto\b/g],
  ['await', /\bawait\b/g],
  ['Promise', /\bPromise\b/g],
]

type SourceFile = { readonly path: string; readonly text: string }
type Violation = { readonly file: string; readonly line: number; readonly message: string }
type Import = { readonly specifier: string | undefined; readonly typeOnly: boolean; readonly index: number }

/** Every broken rule in these files. Paths begin with src/ and use forward slashes. */
export function violations(files: readonly SourceFile[]): Violation[] {
  return files.flatMap((file) => {
    const folder = ruleFor(file.path)
    if (folder === undefined) {
      const message = 'lies in a folder without a rule; give it one in scripts/check-boundaries.ts'
      return [{ file: file.path, line: 1, message }]
    }
    return [...forbiddenImports(file, folder), ...(folder === 'core' ? impurities(file) : [])]
  })
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main()

function main() {
  const paths = globSync('src/**/*.{ts,mts,cts}').map((path) => path.replaceAll('\\', '/'))
  const found = violations(paths.sort().map((path) => ({ path, text: readFileSync(path, 'utf8') })))
  for (const { file, line, message } of found) console.error(`${file}:${line} ${message}`)
  console.log(`${paths.length} files checked, ${found.length} violations.`)
  if (paths.length === 0) console.error('Nothing was checked: run this in the folder that holds src/.')
  process.exitCode = paths.length > 0 && found.length === 0 ? 0 : 1
}

function ruleFor(path: string) {
  const folder = posix.dirname(path).replace(/^src\/?/, '')
  const fitting = Object.keys(mayImport).filter((rule) =>
    rule === '' ? folder === '' : isWithin(folder, rule),
  )
  return fitting.sort((a, b) => b.length - a.length)[0]
}

function forbiddenImports(file: SourceFile, folder: string): Violation[] {
  const { code } = masked(file.text)
  const allowed = mayImport[folder] ?? []
  return importsOf(code)
    .filter((found) => !isAllowed(found, file.path, folder))
    .map((found) => ({
      file: file.path,
      line: lineAt(code, found.index),
      message:
        `imports ${found.specifier ?? 'something that only running it can tell'}; ` +
        `src/${folder} may import its own files${allowed.map((entry) => `, ${entry}`).join('')}`,
    }))
}

function isAllowed({ specifier, typeOnly }: Import, path: string, folder: string) {
  const allowed = mayImport[folder] ?? []
  const everything = allowed.includes('*')
  if (specifier === undefined) return everything
  const target = targetOf(specifier, path)
  if (target.kind === 'outside') return false
  if (everything) return true
  const matches = (entry: string) => {
    if (target.kind === 'file') return isWithin(target.name, entry)
    if (target.kind === 'builtin' && entry === 'node:*') return true
    return target.name === entry || target.name.startsWith(`${entry}/`)
  }
  if (allowed.some((entry) => entry.startsWith('!') && matches(entry.slice(1)))) return false
  if (target.kind === 'file' && isWithin(target.name, folder)) return true
  return allowed.some(
    (entry) => matches(entry) || (typeOnly && entry.startsWith('type ') && matches(entry.slice(5))),
  )
}

/** What a specifier names. Reeve's own name counts as outside: sources reach each other by relative paths. */
function targetOf(specifier: string, importer: string) {
  if (specifier.startsWith('.')) {
    const path = posix.join(posix.dirname(importer), specifier)
    return path.startsWith('src/') ? { kind: 'file', name: path.slice(4) } : { kind: 'outside', name: path }
  }
  if (isBuiltin(specifier)) return { kind: 'builtin', name: `node:${specifier.replace(/^node:/, '')}` }
  const isOutside = /^(reeve(\/|$)|[/#]|file:|data:)/.test(specifier)
  return { kind: isOutside ? 'outside' : 'package', name: specifier }
}

function isWithin(path: string, folderOrFile: string) {
  return path === folderOrFile || path.startsWith(`${folderOrFile}/`)
}

function importsOf(code: string): Import[] {
  const statements = code.matchAll(
    /(?<![\w$.])(?:import|export)\b(?<type>\s+type\b(?!\s*(?:,|from\b)))?(?:(?!\b(?:import|export)\b)[\w\s{},*$])*?\bfrom\s*(?<quote>['"])(?<specifier>[^'"\n]+)\k<quote>/g,
  )
  const bare = code.matchAll(/(?<![\w$.])import\s*(?<quote>['"])(?<specifier>[^'"\n]+)\k<quote>/g)
  const calls = code.matchAll(
    /(?<![\w$.])(?:import|require)\s*\(\s*(?:(?<quote>['"])(?<specifier>[^'"\n]+)\k<quote>\s*[,)])?/g,
  )
  return [...statements, ...bare, ...calls].map(({ groups, index }) => ({
    specifier: groups?.['specifier'],
    typeOnly: groups?.['type'] !== undefined,
    index,
  }))
}

function impurities(file: SourceFile): Violation[] {
  const { words } = masked(file.text)
  return impure.flatMap(([name, pattern]) =>
    [...words.matchAll(pattern)].map(({ index }) => ({
      file: file.path,
      line: lineAt(words, index),
      message: `uses ${name}; core is pure: time, ids and answers of others arrive as arguments`,
    })),
  )
}

/**
 * The text with blanks for what is not code, every character still at its place: `code` keeps strings, since
 * imports name files by them, `words` does not. Code inside `${}` stays in both. A slash begins a regular
 * expression where a value could begin; that is a guess, but a wrong one ends with its line.
 */
function masked(text: string) {
  const code = text.split('')
  const words = [...code]
  const openTemplates: number[] = []
  let depth = 0
  let i = 0

  const blank = (end: number, alsoInCode: boolean) => {
    for (; i < end; i++) {
      if (text[i] === '\n') continue
      words[i] = ' '
      if (alsoInCode) code[i] = ' '
    }
  }
  const endOf = (pattern: RegExp) => {
    pattern.lastIndex = i
    return pattern.test(text) ? pattern.lastIndex : text.length
  }
  const template = () => {
    blank(endOf(/(?:\\[\s\S]|[^\\`$]|\$(?!\{))*/y), true)
    if (text[i] === '$') {
      openTemplates.push(depth)
      i += 2
    } else i++
  }

  while (i < text.length) {
    const char = text[i]
    if (text.startsWith('//', i)) blank(endOf(/.*/y), true)
    else if (text.startsWith('/*', i)) blank(endOf(/[\s\S]*?(?:\*\/|$)/y), true)
    else if (char === "'" || char === '"') blank(endOf(/(['"])(?:\\[\s\S]|(?!\1)[^\\\n])*\1?/y), false)
    else if (char === '`') {
      i++
      template()
    } else if (char === '}' && openTemplates.at(-1) === depth) {
      openTemplates.pop()
      i++
      template()
    } else if (
      char === '/' &&
      /(?:^|[(,=:[!&|?{};+\-*%<>~\n]|\b(?:return|case|typeof))\s*$/.test(text.slice(Math.max(0, i - 80), i))
    ) {
      blank(endOf(/\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])*\/?/y), true)
    } else {
      if (char === '{') depth++
      if (char === '}') depth--
      i++
    }
  }
  return { code: code.join(''), words: words.join('') }
}

function lineAt(text: string, index: number) {
  return text.slice(0, index).split('\n').length
}
