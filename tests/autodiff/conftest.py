import chainrule.codegen.compositions
