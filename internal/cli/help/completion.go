package help

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// eachNode calls do for a node and all nodes below it, with their path: "/" for
// the root, "/client/create" for client create.
func eachNode(node *kong.Node, path string, do func(path string, node *kong.Node)) {
	do(path, node)
	for _, child := range node.Children {
		eachNode(child, strings.TrimSuffix(path, "/")+"/"+child.Name, do)
	}
}

// choices returns the values that an argument or a flag may have. isFile reports whether it is a path. The arguments of import and
// export are known by name: they may be - too, so their type is not path.
func choices(value *kong.Value) (list []string, isFile bool) {
	if value.Enum != "" {
		return value.EnumSlice(), false
	}
	return nil, value.Tag.Type == "path" || value.Name == "file" || value.Name == "File"
}

// bashHead begins the script for bash. It finds the command before the cursor, of all that COMMANDS lists.
const bashHead = `# bash completion for portico
_portico() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} path=/ word
	if [[ $cur == "=" ]]; then
		cur=
	elif [[ $prev == "=" ]]; then
		prev=${COMP_WORDS[COMP_CWORD-2]}
	fi
	for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
		case "${path%/}/$word" in
		COMMANDS) path=${path%/}/$word ;;
		esac
	done
	local words= files=
	case "$path" in
`

// Bash returns a script that completes commands, flags and their values.
func Bash(root *kong.Node) string {
	var commands []string
	var words, values strings.Builder
	eachNode(root, "/", func(path string, node *kong.Node) {
		if node != root {
			commands = append(commands, path)
		}
		var list []string
		files := ""
		for _, child := range node.Children {
			list = append(list, child.Name)
		}
		for _, arg := range node.Positional {
			names, isFile := choices(arg)
			list = append(list, names...)
			if isFile {
				files = " files=1"
			}
		}
		for _, flag := range completedFlags(root, node) {
			list = append(list, "--"+flag.Name)
			switch names, isFile := choices(flag.Value); {
			case len(names) > 0:
				fmt.Fprintf(&values, "\t%s:--%s) words='%s' files= ;;\n", path, flag.Name, strings.Join(names, " "))
			case isFile:
				fmt.Fprintf(&values, "\t%s:--%s) words= files=1 ;;\n", path, flag.Name)
			case !flag.IsBool():
				fmt.Fprintf(&values, "\t%s:--%s) words= files= ;;\n", path, flag.Name)
			}
		}
		fmt.Fprintf(&words, "\t%s) words='%s'%s ;;\n", path, strings.Join(list, " "), files)
	})
	return strings.Replace(bashHead, "COMMANDS", strings.Join(commands, "|"), 1) + words.String() +
		"\tesac\n\tcase \"$path:$prev\" in\n" + values.String() + "\tesac\n" +
		"\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n" +
		"\t[[ -z $files || $cur == -* ]] || COMPREPLY+=($(compgen -f -- \"$cur\"))\n}\n" +
		"complete -o filenames -F _portico portico\n"
}

// completedFlags returns the flags of a command and those of all commands.
func completedFlags(root, node *kong.Node) []*kong.Flag {
	if node == root {
		return root.Flags
	}
	return append(append([]*kong.Flag{}, node.Flags...), root.Flags...)
}

// Zsh returns a script that completes commands, flags and their values, with descriptions.
func Zsh(root *kong.Node) string {
	var commands []string
	var cases strings.Builder
	quote := func(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
	entry := func(name, help string) string {
		return quote(strings.ReplaceAll(name, ":", `\:`) + ":" + firstSentence(help))
	}
	eachNode(root, "/", func(path string, node *kong.Node) {
		if node != root {
			commands = append(commands, path)
		}
		fmt.Fprintf(&cases, "\t%s)\n\t\tcase $words[CURRENT-1] in\n", path)
		flags := completedFlags(root, node)
		for _, flag := range flags {
			switch names, isFile := choices(flag.Value); {
			case len(names) > 0:
				fmt.Fprintf(&cases, "\t\t--%s) compadd -- %s; return ;;\n", flag.Name, strings.Join(names, " "))
			case isFile:
				fmt.Fprintf(&cases, "\t\t--%s) _files; return ;;\n", flag.Name)
			case !flag.IsBool():
				fmt.Fprintf(&cases, "\t\t--%s) _message %s; return ;;\n", flag.Name, quote(flag.FormatPlaceHolder()))
			}
		}
		cases.WriteString("\t\tesac\n\t\titems=(")
		for _, child := range node.Children {
			cases.WriteString(" " + entry(child.Name, child.Help))
		}
		files := false
		for _, arg := range node.Positional {
			names, isFile := choices(arg)
			files = files || isFile
			for _, name := range names {
				cases.WriteString(" " + entry(name, arg.Help))
			}
		}
		cases.WriteString(")\n\t\tflags=(")
		for _, flag := range flags {
			cases.WriteString(" " + entry("--"+flag.Name, flag.Help))
		}
		cases.WriteString(")\n")
		if files {
			cases.WriteString("\t\t[[ $PREFIX == -* ]] || _files\n")
		}
		cases.WriteString("\t\t;;\n")
	})
	return "#compdef portico\n_portico() {\n\tlocal commands=/ word\n\tlocal -a items flags\n" +
		"\tfor word in ${words[2,CURRENT-1]}; do\n\t\tcase ${commands%/}/$word in\n\t\t" +
		"(" + strings.Join(commands, "|") + ") commands=${commands%/}/$word ;;\n\t\tesac\n\tdone\n" +
		"\tcase $commands in\n" + cases.String() + "\tesac\n" +
		"\t(( $#items )) && _describe command items\n\t_describe -o flag flags\n}\n" +
		"if [ \"$funcstack[1]\" = _portico ]; then _portico; else compdef _portico portico; fi\n"
}

// Fish returns a script that completes commands, flags and their values, with descriptions.
func Fish(root *kong.Node) string {
	var w strings.Builder
	w.WriteString("# fish completion for portico\ncomplete -c portico -f\n")
	quote := func(text string) string { return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(text) + "'" }
	eachNode(root, "/", func(path string, node *kong.Node) {
		condition := "__fish_use_subcommand"
		if node != root {
			condition = ""
			for name := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
				condition += "; and __fish_seen_subcommand_from " + name
			}
			condition = strings.TrimPrefix(condition, "; and ")
		}
		var children []string
		for _, child := range node.Children {
			children = append(children, child.Name)
		}
		if node != root && len(children) > 0 {
			condition += "; and not __fish_seen_subcommand_from " + strings.Join(children, " ")
		}
		for _, child := range node.Children {
			fmt.Fprintf(&w, "complete -c portico -n '%s' -a %s -d %s\n", condition, child.Name, quote(firstSentence(child.Help)))
		}
		for _, arg := range node.Positional {
			names, files := choices(arg)
			if len(names) > 0 {
				fmt.Fprintf(&w, "complete -c portico -n '%s' -a '%s'\n", condition, strings.Join(names, " "))
			}
			if files {
				fmt.Fprintf(&w, "complete -c portico -n '%s' -F\n", condition)
			}
		}
		if node == root {
			condition = "true"
		}
		for _, flag := range node.Flags {
			takes := " -x"
			switch names, files := choices(flag.Value); {
			case flag.IsBool():
				takes = ""
			case len(names) > 0:
				takes = " -x -a '" + strings.Join(names, " ") + "'"
			case files:
				takes = " -r -F"
			}
			fmt.Fprintf(&w, "complete -c portico -n '%s' -l %s%s -d %s\n", condition, flag.Name, takes, quote(firstSentence(flag.Help)))
		}
	})
	return w.String()
}

// firstSentence is the start of a text up to the first full stop.
func firstSentence(text string) string {
	first, _, _ := strings.Cut(text, ". ")
	return strings.TrimSuffix(first, ".")
}
