// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are lines for a shell
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect } from 'vitest'
import { analyseShell } from '../../src/shell/analyse.ts'
import type { Args, ShellAnalysis } from '../../src/shell/analysis.ts'
import { testIf } from '../reporting/test-if.ts'
import { tempFolder } from '../temp-folder.ts'

/** Everything that a line can have around `git push`, without leaving a process behind. */
const FORMS: readonly ((line: string) => string)[] = [
  (line) => `echo $(${line})`,
  (line) => `echo "$(${line})"`,
  (line) => `echo \`${escaped(line, /[\\`$]/g)}\``,
  (line) => `(${line})`,
  (line) => `{ ${line}; }`,
  (line) => `!(${line})`,
  (line) => `if ${line}; then ${line}; fi`,
  (line) => `for i in 1 2; do ${line}; done`,
  (line) => `while ${line}; do break; done`,
  (line) => `case x in x) ${line};; esac`,
  (line) => `f() { ${line}; }; f`,
  (line) => `function f {\n${line}\n}\nf`,
  (line) => `cat <<E\n$(${line})\nE\n`,
  (line) => `cat <<E\n${line}\\\nE\n${line}\nE\n`,
  (line) => `cat <<'E'\n${line}\\\nE\n${line}\nE\n`,
  (line) => `cat <<$'E'\n${line}\n$E\n${line}\nE\n`,
  (line) => `cat <<A <<B\nx\nA\n$(${line})\nB\n`,
  (line) => `echo \${q:-$(${line})}`,
  (line) => `echo "\${q:-'$(${line})'}"`,
  (line) => `echo "\${q#'$(${line})'}"`,
  (line) => `echo "\${q-'}'; ${line}; '}"`,
  (line) => `echo \${q-'}'; ${line}; '}`,
  (line) => `echo '$(${line})'`,
  (line) => `echo "\\$(${line})"`,
  (line) => `[[ a || ${line} ]]`,
  (line) => `((${line}))`,
  (line) => `echo $((1+$(${line})))`,
  (line) => `echo $((${line}); (true))`,
  (line) => `x='a[$(${line})]'; echo $((x))`,
  (line) => `x='$(${line})'; echo \${x@P}`,
  (line) => `x='a[$(${line})]'; [[ x -eq 1 ]]`,
  (line) => `x='a[$(${line})]'; b[x]=1`,
  (line) => `o=-v x='a[$(${line})]'; [ $o $x ]`,
  (line) => `sh -c '${line.replaceAll("'", "'\\''")}'`,
  (line) => `bash -c "${escaped(line, /["\\$`]/g)}"`,
  (line) => `eval '${line.replaceAll("'", "'\\''")}'`,
  (line) => `env A=1 ${line}`,
  (line) => `nice -n 1 ${line}`,
  (line) => `command ${line}`,
  (line) => `echo push | xargs ${line}`,
  (line) => `find . -maxdepth 0 -exec ${line} \\;`,
  (line) => `q=${line}`,
  (line) => `$q ${line}`,
  (line) => `echo $'a\\'\n${line}\n#\\''`,
  (line) => `echo "a\\"; ${line}; \\""`,
  (line) => `echo 'a\\'; ${line}; echo \\'`,
  (line) => `echo a#${line}`,
  (line) => `# ${line} \\\n${line}`,
  (line) => `echo a\\\\\n${line}`,
  (line) => `echo $(case x in x) ${line};; esac)`,
  (line) => `echo $(# )\n${line})`,
  (line) => `echo $(cat <<E\n)\nE\n${line})`,
  (line) => `echo {a,$(${line})}`,
  (line) => `echo @(${line})`,
  (line) => `a=(${line})`,
  (line) => line.replace('i', '\\\ni'),
]
const NOISE = ['', '"', "'", '\\', '$', '`', '(', ')', '{', '}', '\n', '#', ' ', ';', '<<']

const { line } = fc.letrec<{ line: string }>((tie) => ({
  line: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom('git push', 'git push', 'git status', 'echo a', 'x=push', 'true'),
    fc.tuple(fc.constantFrom(...FORMS), tie('line')).map(([form, inner]) => form(inner)),
    fc
      .tuple(tie('line'), fc.constantFrom('; ', ' && ', ' || ', '\n', ' | '), tie('line'))
      .map((parts) => parts.join('')),
  ),
}))
const text = fc
  .tuple(line, fc.constantFrom(...NOISE), fc.double({ min: 0, max: 1, noNaN: true }))
  .map(([whole, noise, at]) => {
    const position = Math.floor(at * whole.length)
    return whole.slice(0, position) + noise + whole.slice(position)
  })

describe.each(['/bin/bash', '/bin/sh'])('%s', (shell) => {
  testIf(existsSync(shell), `needs ${shell}`)('runs no git that the analysis does not list', () => {
    const folder = tempFolder()
    const { run } = recordingGit(folder, shell)
    fc.assert(
      fc.property(text, (one) => {
        const analysis = analyseShell(one, shell)
        for (const args of run(one)) expect(covers(analysis, args), JSON.stringify({ one, args })).toBe(true)
      }),
      { numRuns: 200 },
    )
  })
})

/** Notes its arguments, each with a separator behind it, and does nothing else. */
const GIT = `#!/bin/sh
noted=
for argument; do noted="$noted$argument\u001f"; done
# One write: the commands of a pipeline run at the same time.
printf '%s\\036' "$noted" >> "$NOTES"
`

/** Runs lines with that git. */
function recordingGit(folder: string, shell: string): { run(line: string): string[][] } {
  const bin = join(folder, 'bin')
  const notes = join(folder, 'notes')
  const cwd = join(folder, 'cwd')
  mkdirSync(bin)
  mkdirSync(cwd)
  writeFileSync(join(bin, 'git'), GIT)
  chmodSync(join(bin, 'git'), 0o755)
  const env = { PATH: `${bin}:/usr/bin:/bin`, NOTES: notes }
  return {
    run(line) {
      rmSync(notes, { force: true })
      spawnSync(shell, ['-c', line], { cwd, env, stdio: 'ignore', timeout: 20_000 })
      const noted = existsSync(notes) ? readFileSync(notes, 'utf8').split('\u001e').slice(0, -1) : []
      return noted.map((args) => args.split('\u001f').slice(0, -1))
    },
  }
}

function covers(analysis: ShellAnalysis, args: readonly string[]): boolean {
  if (analysis.type === 'opaque' || analysis.commands.some(({ opaque }) => opaque !== undefined)) return true
  return analysis.commands.some((command) => command.program === 'git' && fits(command.args, args))
}

/** Null stands for any number of arguments. */
function fits([first, ...listed]: Args, args: readonly string[]): boolean {
  if (first === undefined) return args.length === 0
  if (first === null) return [...args, ''].some((_, skipped) => fits(listed, args.slice(skipped)))
  return args[0] === first && fits(listed, args.slice(1))
}

function escaped(line: string, characters: RegExp): string {
  return line.replace(characters, '\\$&')
}
