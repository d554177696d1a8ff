import type { Plugin } from 'rolldown'

/**
 * Gets Node's own modules by a call. An import reads all exports of such a module, and some of them are getters that load more
 * modules: those of `node:fs` the streams, those of `node:http` the code of fetch.
 */
export const builtinImports: Plugin = {
  name: 'builtin-imports',
  renderChunk: (code) => ({ code: code.replaceAll(IMPORT, calling), map: null }),
}

/** As rolldown writes it: on one line, with double quotes. */
const IMPORT = /^import (?:\* as )?(?<names>\{[^}]*\}|[\w$]+) from "(?<id>node:[\w/]+)";$/gm

function calling(_: string, names: string, id: string): string {
  // Some modules call a variable of their own `process`.
  return `const ${names.replaceAll(' as ', ': ')} = globalThis.process.getBuiltinModule("${id}");`
}

/** A file of the build. */
interface BuiltFile {
  readonly fileName: string
  readonly imports: readonly string[]
}

/** A file in a circle could be called before it has got its modules. */
export function refuseCircles(files: readonly BuiltFile[]): void {
  const imports = new Map(files.map((file) => [file.fileName, file.imports]))
  for (const { fileName } of files) {
    const needed = new Set(imports.get(fileName))
    for (const one of needed) for (const next of imports.get(one) ?? []) needed.add(next)
    if (needed.has(fileName)) throw new Error(`${fileName} imports itself, through other files of the build.`)
  }
}
