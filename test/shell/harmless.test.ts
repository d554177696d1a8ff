// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are lines for a shell
import { expect, test } from 'vitest'
import { analyseShell } from '../../src/shell/analyse.ts'

type Command = readonly [program: string, ...args: (string | null)[]]

/** Lines whose commands are all listed: an allow rule for each of the programs lets the line pass. */
const LINES: readonly (readonly [
  line: string,
  commands: readonly Command[],
  writes?: readonly (string | null)[],
])[] = [
  [
    'cd src && ls -la | head -3',
    [
      ['cd', 'src'],
      ['ls', '-la'],
      ['head', '-3'],
    ],
  ],
  ['git status && git diff --stat | cat', [['git', 'status'], ['git', 'diff', '--stat'], ['cat']]],
  ['FOO=1 npm test', [['npm', 'test']]],
  [
    'test -f x && echo yes || echo no',
    [
      ['test', '-f', 'x'],
      ['echo', 'yes'],
      ['echo', 'no'],
    ],
  ],
  ['for f in *.ts; do wc -l "$f"; done', [['wc', '-l', null]]],
  ['cat <<EOF\nHello $USER, git push\nEOF', [['cat']]],
  ['grep -r foo . | sort | uniq -c', [['grep', '-r', 'foo', '.'], ['sort'], ['uniq', '-c']]],
  ["cat > notes.md <<'EOF'\n$(git push)\n`git push`\nEOF", [['cat']], ['notes.md']],
  [
    'mkdir -p build && cp -r src/* build/',
    [
      ['mkdir', '-p', 'build'],
      ['cp', '-r', null, 'build/'],
    ],
  ],
  ["echo 'git push'", [['echo', 'git push']]],
  [
    'git log --oneline -5 2>&1 | tee log.txt',
    [
      ['git', 'log', '--oneline', '-5'],
      ['tee', 'log.txt'],
    ],
  ],
  ['npm run build > build.log 2>&1', [['npm', 'run', 'build']], ['build.log']],
  ['ls nothing 2>/dev/null || true', [['ls', 'nothing'], ['true']]],
  [
    'sort names >> all && wc -l < all',
    [
      ['sort', 'names'],
      ['wc', '-l'],
    ],
    ['all'],
  ],
  [
    'if [ -d node_modules ]; then echo yes; else npm ci; fi',
    [
      ['[', '-d', 'node_modules', ']'],
      ['echo', 'yes'],
      ['npm', 'ci'],
    ],
  ],
  ['[[ -f package.json ]] && cat package.json', [['cat', 'package.json']]],
  [
    'while read -r line; do echo "$line"; done < list',
    [
      ['read', '-r', 'line'],
      ['echo', null],
    ],
  ],
  [
    'case "$1" in start) echo a;; *) echo b;; esac',
    [
      ['echo', 'a'],
      ['echo', 'b'],
    ],
  ],
  ['(cd docs && ls) ; pwd', [['cd', 'docs'], ['ls'], ['pwd']]],
  ['{ date; uptime; } > state', [['date'], ['uptime']], ['state']],
  [
    'version=$(git describe --tags); echo "$version"',
    [
      ['git', 'describe', '--tags'],
      ['echo', null],
    ],
  ],
  ['echo "$(date +%F) $(hostname)"', [['echo', null], ['date', '+%F'], ['hostname']]],
  [
    'diff <(ls a) <(ls b)',
    [
      ['diff', null, null],
      ['ls', 'a'],
      ['ls', 'b'],
    ],
  ],
  ['rg -n "a|b" src # git push', [['rg', '-n', 'a|b', 'src']]],
  [
    'curl -fsSL https://example.com/x.json | jq ".a[0]"',
    [
      ['curl', '-fsSL', 'https://example.com/x.json'],
      ['jq', '.a[0]'],
    ],
  ],
  [
    'git add -A && git commit -m "Fix; then push" && git status -s',
    [
      ['git', 'add', '-A'],
      ['git', 'commit', '-m', 'Fix; then push'],
      ['git', 'status', '-s'],
    ],
  ],
  ['git stash push -m "x"', [['git', 'stash', 'push', '-m', 'x']]],
  ["sed -n '10,20p' src/a.ts", [['sed', '-n', '10,20p', 'src/a.ts']]],
  ["sed -i 's/old/new/g' src/a.ts", [['sed', '-i', 's/old/new/g', 'src/a.ts']]],
  ["awk -F: '{ print $1 }' /etc/passwd", [['awk', '-F:', '{ print $1 }', '/etc/passwd']]],
  ['find . -name "*.log" -mtime +7 -delete', [['find', '.', '-name', '*.log', '-mtime', '+7', '-delete']]],
  [
    'find . -name "*.ts" | xargs grep -l foo',
    [
      ['find', '.', '-name', '*.ts'],
      ['xargs', 'grep', '-l', 'foo'],
      ['grep', '-l', 'foo', null],
    ],
  ],
  [
    'timeout 60 npm test',
    [
      ['timeout', '60', 'npm', 'test'],
      ['npm', 'test'],
    ],
  ],
  [
    'env CI=1 cargo test',
    [
      ['env', 'CI=1', 'cargo', 'test'],
      ['cargo', 'test'],
    ],
  ],
  ["bash -c 'ls && pwd'", [['bash', '-c', 'ls && pwd'], ['ls'], ['pwd']]],
  ['make -j$(nproc) test', [['make', null, 'test'], ['nproc']]],
  [
    'npx tsc --noEmit && npx vitest run',
    [
      ['npx', 'tsc', '--noEmit'],
      ['tsc', '--noEmit'],
      ['npx', 'vitest', 'run'],
      ['vitest', 'run'],
    ],
  ],
  [
    'tar czf out.tgz dist && ls -lh out.tgz',
    [
      ['tar', 'czf', 'out.tgz', 'dist'],
      ['ls', '-lh', 'out.tgz'],
    ],
  ],
  [
    'docker compose up -d && docker ps',
    [
      ['docker', 'compose', 'up', '-d'],
      ['docker', 'ps'],
    ],
  ],
  ['kubectl -n prod get pods -o wide', [['kubectl', '-n', 'prod', 'get', 'pods', '-o', 'wide']]],
  [
    'set -euo pipefail; ls; echo "$((2 + 3))" "${#x}" "${x:-none}"',
    [['set', '-euo', 'pipefail'], ['ls'], ['echo', null, null, null]],
  ],
  ['GIT_PAGER=cat git log -1', [['git', 'log', '-1']]],
  [
    'python3 --version; node --version',
    [
      ['python3', '--version'],
      ['node', '--version'],
    ],
  ],
  ['sleep 5 & wait', [['sleep', '5'], ['wait']]],
  ['! grep -q TODO src/a.ts', [['grep', '-q', 'TODO', 'src/a.ts']]],
  ['time ls', [['time'], ['ls']]],
  [
    'export NODE_ENV=test; npm test',
    [
      ['export', 'NODE_ENV=test'],
      ['npm', 'test'],
    ],
  ],
  [
    'printf "%s\\n" "$a" | head -n 1',
    [
      ['printf', '%s\\n', null],
      ['head', '-n', '1'],
    ],
  ],
  [
    'git commit -m "$(cat <<\'EOF\'\nFix it; git push\n\n$(git push)\nEOF\n)"',
    [['git', 'commit', '-m', null], ['cat']],
  ],
  ['git -c core.editor=true rebase --continue', [['git', '-c', 'core.editor=true', 'rebase', '--continue']]],
  ['touch {a,b}.txt', [['touch', null]]],
  ['command -v git', [['command', '-v', 'git']]],
]

test.each(LINES.map(([line, commands, writes = []]) => ({ line, commands, writes })))(
  'every command is listed: $line',
  ({ line, commands, writes }) => {
    const analysis = analyseShell(line, 'bash')
    expect(analysis.type).toBe('commands')
    expect(analysis.commands.map(({ program, args }) => [program, ...args])).toEqual(commands)
    expect(analysis.commands.filter(({ opaque }) => opaque !== undefined)).toEqual([])
    expect(analysis.writes).toEqual(writes)
    expect(analyseShell(line, 'sh')).toEqual(analysis)
  },
)
