import { builtinRunsMore } from './builtins.ts'
import { optionRunsCommand } from './command-options.ts'
import { baseNameOf, type Token } from './token.ts'

/** With these the text of a program is an argument, an input or a file: the line does not say what runs. */
const INTERPRETERS =
  /^(python|pypy|ipython|node|nodejs|deno|bun|tsx|ts-node|perl|ruby|irb|php|lua|luajit|tclsh|wish|rscript|r|julia|ghci|runghc|runhaskell|scala|groovy|jshell|osascript|elixir|iex|erl|escript|guile|racket|sbcl|clisp|clojure|swift|ocaml|dc|m4)[\d.]*$/

/** Shells whose language is not analysed. `sh`, `bash`, `dash` and `ash` are in unwrap.ts. */
const SHELLS = new Set(
  'zsh ksh ksh93 mksh oksh pdksh fish csh tcsh rbash rzsh yash elvish nu xonsh pwsh powershell cmd rc es'.split(
    ' ',
  ),
)

/** Programs whose arguments, input or commands run other programs, here or on another machine. */
const RUNNERS = new Set(
  `
  su runuser pkexec gosu su-exec run0 ssh mosh sshpass autossh rsh telnet
  watch parallel script scriptreplay expect unbuffer at batch crontab systemd-run start-stop-daemon daemonize launchctl
  tmux screen zellij dtach abduco
  chroot unshare nsenter firejail bwrap proot fakeroot setpriv capsh prlimit taskset chrt numactl setarch linux32 linux64 cgexec
  strace ltrace gdb lldb rr valgrind perf catchsegv ld.so flock lockfile-run chronic caffeinate faketime torsocks proxychains
  proxychains4 xvfb-run dbus-run-session dbus-launch tini dumb-init s6-setuidgid eatmydata
  entr watchexec hyperfine nodemon concurrently cross-env cross-env-shell dotenv env-cmd direnv foreman honcho overmind just
  nix nix-shell nix-env guix conda mamba micromamba pyenv rbenv nodenv asdf mise rtx
  vi vim nvim view ex ed emacs emacsclient nano pico joe mc gvim
  sqlite3 psql mysql mariadb mongosh redis-cli
  socat nc ncat netcat
  ssh-agent gpg-agent aws-vault op doppler chamber volta fnm hatch pdm rye pixi lerna cargo-watch
  lxc incus machinectl vagrant multipass
  run-parts xdg-open wsl osc ansible ansible-playbook fab
  xterm gnome-terminal konsole alacritty kitty
  repeat noglob nocorrect
  `
    .trim()
    .split(/\s+/),
)

/** Why a command may start programs that its tokens do not name, if so. */
export function reasonForOpacity(program: string, args: readonly Token[]): string | undefined {
  const name = baseNameOf(program)
  if (/^ld-(linux|musl)/.test(name)) return `${name} starts the program that its arguments name`
  if (args.length === 1 && args[0]?.value === '--version') return undefined
  if (INTERPRETERS.test(name)) return `${name} runs programs that are not analysed`
  if (SHELLS.has(name)) return `${name} is a shell whose language is not analysed`
  if (RUNNERS.has(name)) return `${name} runs other commands`
  return builtinRunsMore(name, args) ?? optionRunsCommand(name, args)
}
