import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { absentFrom, compositionRoots, mayImport, violations } from '../scripts/check-boundaries.ts'

const found = (path: string, ...lines: string[]) =>
  violations([{ path, text: lines.join('\n') }]).map(
    ({ file, line, message }) => `${file}:${line} ${message}`,
  )

test('the sources of Reeve keep every import rule', () => {
  const paths = globSync('src/**/*.ts')
  expect(paths.length).toBeGreaterThan(0)
  expect(violations(paths.map((path) => ({ path, text: readFileSync(path, 'utf8') })))).toEqual([])
})

test('the rules name folders and files that exist', () => {
  expect(absentFrom(globSync('src/**/*.ts'))).toEqual([])
  expect(absentFrom(['src/core/clock.ts'])).toContain('kernel')
})

test('only composition roots may import everything', () => {
  expect(compositionRoots()).toEqual(['embed', 'daemon', 'demo', ''])
})

test('a violation names file, line, what was imported and what may be', () => {
  expect(found('src/kernel/claim.ts', '', "import { open } from '../store/sqlite/open.ts'")).toEqual([
    'src/kernel/claim.ts:2 imports ../store/sqlite/open.ts; src/kernel may import its own files, store/contract.ts, core, base',
  ])
})

describe('the documents for contributors', () => {
  const rows = readFileSync('AGENTS.md', 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [, folder, imports] = /^\| \S+ \| `src\/([\w/-]+)\/` \|.*\| ([^|]+) \|$/.exec(line) ?? []
      return folder === undefined ? [] : [[folder, imports ?? ''] as const]
    })

  test('AGENTS.md has a row for each folder with an import rule', () => {
    const folders = Object.keys(mayImport).filter((folder) => folder !== '')
    expect(rows.map(([folder]) => folder).toSorted()).toEqual(folders.toSorted())
  })

  test.each(rows.filter(([folder]) => !compositionRoots().includes(folder)))(
    'the row of %s in AGENTS.md names all that it may import',
    (folder, imports) => {
      const named = [...imports.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)
      const rule = (mayImport[folder] ?? []).filter((entry) => !/^(!|node:\*)/.test(entry))
      const mayUseSqlite =
        mayImport[folder]?.includes('node:*') && !mayImport[folder].includes('!node:sqlite')
      expect(named.filter((name) => name !== 'node:sqlite').toSorted()).toEqual(
        rule.map((entry) => entry.replace('type ', '')).toSorted(),
      )
      expect(imports.startsWith('Node')).toBe(mayImport[folder]?.includes('node:*'))
      expect(named.includes('node:sqlite')).toBe(mayUseSqlite === true)
    },
  )

  test('the layers in ARCHITECTURE.md have each folder of src', () => {
    const [layers = ''] = /^```$.*?^```$/ms.exec(readFileSync('ARCHITECTURE.md', 'utf8')) ?? []
    const folders = readdirSync('src', { withFileTypes: true }).filter((entry) => entry.isDirectory())
    expect(folders.map(({ name }) => name).filter((name) => !layers.includes(` ${name}/`))).toEqual([])
  })

  test.each(['AGENTS.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md'])('each path in %s exists', (page) => {
    expect(pathsIn(readFileSync(page, 'utf8')).length).toBeGreaterThan(5)
    expect(pathsIn(readFileSync(page, 'utf8')).filter((path) => !exists(path))).toEqual([])
  })

  test('a path that does not exist is found', () => {
    const text =
      'See `src/kernel/nowhere.ts`, `kernel/nowhere.ts`, `test/nowhere/`, `kernel/perform.ts` and `send()`.'
    const paths = pathsIn(text)
    expect(paths).toEqual([
      'src/kernel/nowhere.ts',
      'src/kernel/nowhere.ts',
      'test/nowhere/',
      'src/kernel/perform.ts',
    ])
    expect(paths.filter((path) => !exists(path))).toHaveLength(3)
  })

  test('the scripts in package.json name files that exist', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
      scripts: Record<string, string>
    }
    const paths = Object.values(scripts).flatMap(
      (line) => line.match(/\b(?:src|test|scripts|bench|bin)\/\S+/g) ?? [],
    )
    expect(paths.length).toBeGreaterThan(5)
    expect(paths.filter((path) => !existsSync(path))).toEqual([])
  })
})

describe('forbidden', () => {
  test.each([
    ['src/core/lease/decide.ts', "import { hash } from 'node:crypto'"],
    ['src/core/lease/decide.ts', "import fs from 'fs'"],
    ['src/core/lease/decide.ts', "import { z } from 'zod'"],
    ['src/core/lease/decide.ts', "import type { Store } from '../../store/contract.ts'"],
    ['src/core/lease/decide.ts', "import '../../kernel/claim.ts'"],
    ['src/core/lease/decide.ts', "export * from '../../kernel/claim.ts'"],
    ['src/core/lease/decide.ts', "import {\n  a,\n  type B,\n} from '../../kernel/claim.ts'"],
    ['src/core/lease/decide.ts', "type A = import('../../kernel/claim.ts').A"],
    ['src/core/lease/decide.ts', 'const a = import(name)'],
    ['src/keeper/main.ts', "import { z } from 'zod'"],
    ['src/keeper/main.ts', "import type { Pid } from '../core/process/types.ts'"],
    ['src/mcp/serve.ts', "import { decide } from '../core/process/decide.ts'"],
    ['src/mcp/serve.ts', "import { type Pid } from '../core/process/types.ts'"],
    ['src/mcp/serve.ts', "export type { A }\nimport { decide } from '../core/process/decide.ts'"],
    ['src/verbs/start.ts', "import { claim } from '../kernel/claim.ts'"],
    ['src/verbs/start.ts', "import { readFile } from 'node:fs/promises'"],
    ['src/store/contract.ts', "import { DatabaseSync } from 'node:sqlite'"],
    ['src/store/contract.ts', "import postgres from 'postgres'"],
    ['src/store/sqlite/open.ts', "import postgres from 'postgres'"],
    ['src/store/sqlite/open.ts', "import { open } from '../postgres/open.ts'"],
    ['src/store/postgres/open.ts', "import { DatabaseSync } from 'node:sqlite'"],
    ['src/store/postgres/open.ts', "import { claim } from '../../kernel/claim.ts'"],
    ['src/kernel/claim.ts', "import { setTimeout } from 'node:timers/promises'"],
    ['src/kernel/claim.ts', "import { z } from 'zod'"],
    ['src/kernel/claim.ts', "import { start } from '../verbs/start.ts'"],
    ['src/command/run.ts', "import { run } from '../tool/run.ts'"],
    ['src/command/run.ts', "import { killAll } from '../actions/kill-all.ts'"],
    ['src/command/run.ts', "import { main } from '../keeper/main.ts'"],
    ['src/workflow/run.ts', "import type { Frame } from '../keeper/protocol/messages.ts'"],
    ['src/workflow/run.ts', "import { run } from '../tool/run.ts'"],
    ['src/tool/run.ts', "import type { Store } from '../store/contract.ts'"],
    ['src/server/http.ts', "import { run } from '../command/run.ts'"],
    ['src/client/connect.ts', "import type { Pid } from '../core/process/types.ts'"],
    ['src/server/http.ts', "import { connect } from '../client/connect.ts'"],
    ['src/cli/run.ts', "import { claim } from '../kernel/claim.ts'"],
    ['src/mcp/serve.ts', "import { http } from '../server/http.ts'"],
    ['src/mcp/serve.ts', "import { run } from '../cli/run.ts'"],
    ['src/testing/index.ts', "import { open } from '../store/sqlite/open.ts'"],
    ['src/testing/index.ts', "import { test } from 'vitest'"],
    ['src/model/models.ts', "import { createAnthropic } from '@ai-sdk/anthropic'"],
    ['src/model/model.ts', "import type { LanguageModelV4 } from '@ai-sdk/provider'"],
    ['src/core/model/prompt.ts', "import type { LanguageModelV4Prompt } from '@ai-sdk/provider'"],
    ['src/base/pause.ts', "import { setTimeout } from 'node:timers/promises'"],
    ['src/base/pause.ts', "import type { Clock } from '../core/clock.ts'"],
    ['src/core/lease/decide.ts', "import { pause } from '../../base/pause.ts'"],
    ['src/home/paths.ts', "import type { Kernel } from '../kernel/kernel.ts'"],
    ['src/os/boot.ts', "import { homePaths } from '../home/paths.ts'"],
    ['src/redaction/masker.ts', "import { readFileSync } from 'node:fs'"],
    ['src/shell/analyse.ts', "import { readFileSync } from 'node:fs'"],
    ['src/shell/analyse.ts', "import type { Rule } from '../core/capability/rule.ts'"],
    ['src/core/capability/need.ts', "import { parse } from 'unbash'"],
    ['src/actions/spawn.ts', "import { embed } from '../embed/embed.ts'"],
    ['src/actions/spawn.ts', "import { readFile } from 'node:fs/promises'"],
    ['src/actions/spawn.ts', "import { open } from '../store/sqlite/open.ts'"],
    ['src/embed/embed.ts', "import { up } from '../daemon/up.ts'"],
    ['src/embed/embed.ts', "import { connect } from '../client/connect.ts'"],
    ['src/embed/embed.ts', "import { keep } from '../keeper/keep.ts'"],
    ['src/daemon/up.ts', "import { keep } from '../keeper/keep.ts'"],
    ['src/daemon/up.ts', "const log = import('../keeper/program/output-log.ts')"],
    ['src/demo/demo.ts', "import type { Program } from '../keeper/program/program.ts'"],
    ['src/main.ts', "import '../src/keeper/main.ts'"],
    ['src/main.ts', "import { startPostgres } from '../test/postgres-server.ts'"],
    ['src/main.ts', "import { connect } from 'reeve'"],
    ['src/util/strings.ts', 'export const empty = 1'],
  ])('%s: %s', (path, text) => {
    expect(found(path, text)).toHaveLength(1)
  })
})

describe('allowed', () => {
  test.each([
    ['src/core/lease/decide.ts', "import { hasEnded } from '../process/rules.ts'"],
    [
      'src/keeper/main.ts',
      "import { spawn } from 'node:child_process'\nimport { frame } from './protocol.ts'",
    ],
    ['src/verbs/start.ts', "import { z } from 'zod'\nimport { KINDS } from '../core/process/record.ts'"],
    ['src/store/contract.ts', "import { hasEnded } from '../core/process/rules.ts'"],
    ['src/store/sqlite/open.ts', "import { DatabaseSync } from 'node:sqlite'\nimport '../contract.ts'"],
    ['src/store/postgres/open.ts', "import postgres from 'postgres'\nimport '../contract.ts'"],
    [
      'src/kernel/claim.ts',
      "import type { Store } from '../store/contract.ts'\nimport '../core/lease/decide.ts'",
    ],
    [
      'src/command/run.ts',
      "import type { Frame } from '../keeper/protocol/messages.ts'\nimport '../kernel/claim.ts'",
    ],
    ['src/server/http.ts', "import { createServer } from 'node:http'\nimport '../verbs/start.ts'"],
    ['src/model/ai-sdk/language-model.ts', "const a = import('@ai-sdk/openai')\nimport '../model.ts'"],
    ['src/cli/run.ts', "import { connect } from '../client/connect.ts'\nimport '../verbs/start.ts'"],
    ['src/testing/index.ts', "import assert from 'node:assert/strict'\nimport '../store/contract.ts'"],
    ['src/core/known-options.ts', "import { nearestName } from '../base/nearest-name.ts'"],
    [
      'src/shell/analyse.ts',
      "import { parse } from 'unbash'\nimport { messageOf } from '../base/error-text.ts'",
    ],
    ['src/keeper/main.ts', "import { messageOf } from '../base/error-text.ts'"],
    ['src/actions/spawn.ts', "import { Commands } from '../command/commands.ts'\nimport '../verbs/spawn.ts'"],
    [
      'src/embed/embed.ts',
      "import { dataFolderAt } from '../keeper/protocol/data-folder-paths.ts'\nimport 'node:crypto'",
    ],
    ['src/daemon/up.ts', "import '../server/http.ts'\nimport 'node:sqlite'\nimport 'postgres'"],
    ['src/index.ts', "export * from './store/sqlite/open.ts'\nconst a = import(name)"],
  ])('%s: %s', (path, text) => {
    expect(found(path, text)).toEqual([])
  })
})

describe('core says nothing about clocks, chance or waiting', () => {
  test.each([
    ['Date.now()', 'const at = Date.now()'],
    ['new Date()', 'const at = new Date()'],
    ['Math.random()', 'const dice = Math.random()'],
    ['setTimeout()', 'setTimeout(again, 10)'],
    ['crypto', 'const id = crypto.randomUUID()'],
    ['await', 'const answer = await later'],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is source text
    ['await', 'const text = `${a}: ${{ b: await later }.b}`'],
    ['Promise', 'type Later = Promise<string>'],
  ])('%s in: %s', (name, text) => {
    expect(found('src/core/lease/decide.ts', text)).toEqual([
      `src/core/lease/decide.ts:1 uses ${name}; core is pure: time, ids and answers of others are arguments`,
    ])
  })

  test('a tool that core imports is as pure as core', () => {
    expect(found('src/base/nearest-name.ts', 'const dice = Math.random()')).toHaveLength(1)
    expect(found('src/base/pause.ts', 'type Later = Promise<string>')).toEqual([])
  })

  test('comments, strings, a given date and other folders may speak of them', () => {
    const text = [
      '/* await */ const at = new Date(intent.at) // Date.now()',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: this is source text
      "const a = 'await', b = `Promise<${at}> crypto`, c = /await `/",
      "/** import '../kernel/claim.ts' */",
    ]
    expect(found('src/core/lease/decide.ts', ...text)).toEqual([])
    expect(found('src/kernel/claim.ts', 'const answer = await later')).toEqual([])
  })
})

/** The quoted paths of a document, from the root of the repository. Paths without a root folder are below src/. */
function pathsIn(text: string): string[] {
  const roots = ['src', 'test', 'scripts', 'docs', 'bench', 'examples', 'bin']
  const rooms = readdirSync('src', { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? [entry.name] : [],
  )
  return [...text.matchAll(/`([\w.*…-]+\/[\w.*…/-]*)`/g)].flatMap(([, path = '']) => {
    const [first = ''] = path.split('/')
    if (roots.includes(first)) return [path]
    return rooms.includes(first) ? [`src/${path}`] : []
  })
}

/** `*` and `…` stand for any part of a name. */
function exists(path: string): boolean {
  const pattern = path.replaceAll('…', '*')
  return pattern.includes('*') ? globSync(pattern).length > 0 : existsSync(path)
}
