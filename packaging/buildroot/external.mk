include $(sort $(wildcard $(BR2_EXTERNAL_GCHINT_PATH)/package/*/*.mk))
