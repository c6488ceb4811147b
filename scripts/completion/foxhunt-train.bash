# Completes foxhunt-train in bash: source this file. Written by `foxhunt-train completion bash`.
_foxhunt_train() {
  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local chosen='' next commands options valued kind i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    next="${chosen:+$chosen }${COMP_WORDS[i]}"
    case $next in
    'eval' | 'export' | 'profiles' | 'profiles list' | 'profiles show' | 'profiles check' | 'profiles diff' | 'profiles reference' | 'data' | 'data synth' | 'data info' | 'data features' | 'report' | 'bench' | 'bench data' | 'bench alpha' | 'bench latency' | 'runs' | 'runs list' | 'runs show' | 'runs compare' | 'doctor' | 'completion') chosen=$next ;;
    esac
  done
  case $chosen in
    '')
      commands='eval export profiles data report bench runs doctor completion'
      options='--help --version --profile --set --data --device --output --resume --repeat --dry-run --require-pass --quiet --json'
      valued='--profile --set --data --device --output --resume --repeat'
      kind=none
      ;;
    'eval')
      commands=''
      options='--help --checkpoint --data --split --set --device --json --sessions --trades'
      valued='--checkpoint --data --split --set --device --sessions --trades'
      kind=file
      ;;
    'export')
      commands=''
      options='--help --checkpoint --onnx'
      valued='--checkpoint --onnx'
      kind=file
      ;;
    'profiles')
      commands='list show check diff reference'
      options='--help'
      valued=''
      kind=none
      ;;
    'profiles list')
      commands=''
      options='--help --names'
      valued=''
      kind=none
      ;;
    'profiles show')
      commands=''
      options='--help --resolved --set'
      valued='--set'
      kind=profile
      ;;
    'profiles check')
      commands=''
      options='--help --set'
      valued='--set'
      kind=profile
      ;;
    'profiles diff')
      commands=''
      options='--help --json'
      valued=''
      kind=profile
      ;;
    'profiles reference')
      commands=''
      options='--help --names'
      valued=''
      kind=key
      ;;
    'data')
      commands='synth info features'
      options='--help'
      valued=''
      kind=none
      ;;
    'data synth')
      commands=''
      options='--help --kind --sessions --seed --strength --no-holes --no-roll --books --rows --signal --out'
      valued='--kind --sessions --seed --strength --rows --signal --out'
      kind=none
      ;;
    'data info')
      commands=''
      options='--help --session-gap-minutes --calendar --csv-stamp --csv-time-zone --instrument --on-error'
      valued='--session-gap-minutes --calendar --csv-stamp --csv-time-zone --instrument --on-error'
      kind=file
      ;;
    'data features')
      commands=''
      options='--help'
      valued=''
      kind=none
      ;;
    'report')
      commands=''
      options='--help --output'
      valued='--output'
      kind=file
      ;;
    'bench')
      commands='data alpha latency'
      options='--help --profile --device --set --iterations --repeats --kernels'
      valued='--profile --device --set --iterations --repeats'
      kind=none
      ;;
    'bench data')
      commands=''
      options='--help --repeats'
      valued='--repeats'
      kind=file
      ;;
    'bench alpha')
      commands=''
      options='--help --device --windows --steps --hidden --snapshots --iterations --repeats'
      valued='--device --windows --steps --hidden --snapshots --iterations --repeats'
      kind=none
      ;;
    'bench latency')
      commands=''
      options='--help --device --snapshots --hidden --processor --json'
      valued='--device --snapshots --hidden --processor'
      kind=none
      ;;
    'runs')
      commands='list show compare'
      options='--help'
      valued=''
      kind=none
      ;;
    'runs list')
      commands=''
      options='--help --output --json'
      valued='--output'
      kind=none
      ;;
    'runs show')
      commands=''
      options='--help --output --json'
      valued='--output'
      kind=run
      ;;
    'runs compare')
      commands=''
      options='--help --output --json'
      valued='--output'
      kind=run
      ;;
    'doctor')
      commands=''
      options='--help --profile --data --device --output --json'
      valued='--profile --data --device --output'
      kind=none
      ;;
    'completion')
      commands=''
      options='--help'
      valued=''
      kind=file
      ;;
  esac

  case " $valued " in
  *" $previous "*) kind=${previous#--} ;;
  *) if [[ $word == -* || $kind == none ]]; then kind=own; fi ;;
  esac
  local words='' program=${COMP_WORDS[0]}
  case $kind in
  own) words="$commands $options" ;;
  profile) words=$("$program" profiles list --names 2>/dev/null) ;;
  key) words=$("$program" profiles reference --names 2>/dev/null) ;;
  set) words=$("$program" profiles reference --names 2>/dev/null | sed 's/$/=/') ;;
  device) words='auto host cuda:0' ;;
  run | repeat | resume) words=$(for i in runs/*/profile.toml; do [[ -f $i ]] && basename "${i%/profile.toml}"; done) ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
  case $kind in
  own | key | device) ;;
  set) compopt -o nospace 2>/dev/null ;;
  *) mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$word") ;;
  esac
}
complete -o filenames -F _foxhunt_train foxhunt-train
