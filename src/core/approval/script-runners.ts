/** Programs that run what files of the project say: build tools, task runners, test runners, package managers. */
const RUNNERS: ReadonlySet<string> = new Set(
  `make gmake bmake ninja samu cmake ctest meson scons bazel bazelisk buck buck2 just task go-task mage rake thor earthly dagger
  npm npx pnpm pnpx yarn yarnpkg bun bunx deno lerna nx turbo gulp grunt jake webpack vite rollup parcel
  jest vitest mocha ava karma cypress playwright eslint stylelint pytest py.test tox nox invoke inv fab pre-commit
  pip pip3 pipx uv uvx poetry hatch pdm rye gem bundle bundler rails rspec composer phpunit artisan
  cargo go dotnet gradle gradlew mvn mvnw ant sbt lein mill mix rebar3 stack cabal dune zig swift xcodebuild fastlane pod
  terraform tofu pulumi ansible-playbook vagrant packer skaffold tilt docker-compose podman-compose`.split(
    /\s+/,
  ),
)

/** Of other programs, the subcommands that do. */
const RUNNING_SUBCOMMANDS: ReadonlySet<string> = new Set([
  ...['docker build', 'docker buildx', 'docker compose', 'podman build', 'podman compose'],
  ...['git bisect', 'git submodule', 'helm upgrade', 'helm install'],
])

/** Of runners, the subcommands that only read. */
const READING_SUBCOMMANDS: ReadonlySet<string> = new Set([
  ...[
    'npm ls',
    'npm list',
    'npm view',
    'npm info',
    'npm show',
    'npm outdated',
    'npm search',
    'npm whoami',
    'npm ping',
  ],
  ...['pnpm ls', 'pnpm list', 'pnpm outdated', 'yarn info', 'yarn list', 'yarn outdated'],
  ...['pip list', 'pip show', 'pip freeze', 'pip3 list', 'pip3 show', 'pip3 freeze', 'gem list', 'uv tree'],
  ...['cargo tree', 'cargo search', 'go version', 'go env', 'go doc'],
])

/**
 * Whether a program runs what files of the project say, such as `make` and `npm test`. Its text does not show what would run, and the
 * agent can change those files: a yes for every time would be a yes to everything.
 */
export function runsScripts(program: string, [subcommand]: readonly (string | null)[]): boolean {
  const called = `${program} ${subcommand ?? ''}`
  return RUNNERS.has(program) ? !READING_SUBCOMMANDS.has(called) : RUNNING_SUBCOMMANDS.has(called)
}
